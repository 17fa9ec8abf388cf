import { describe, expect, test } from 'vitest';
import { UpstreamBadStatusError, type UpstreamError, UpstreamFilteredError } from '../../src/errors.ts';
import { type ResponseBeginning, toResponseError } from '../../src/upstream/response-error.ts';

function errorOf(response: Partial<ResponseBeginning>): UpstreamError | undefined {
  const url = new URL('http://name:word@node:9334/rpc?key=value');
  return toResponseError(
    { upstream: 'NODE', url, status: 200, headers: {}, beginning: '', ...response },
    { host: 'node' },
  );
}

describe('a redirect', () => {
  test.each([
    ['https://elsewhere.example/rpc?key=value#part', 'https://elsewhere.example'],
    ['https://name:word@elsewhere.example:8443/', 'https://elsewhere.example:8443'],
    ['//elsewhere.example/rpc', 'http://elsewhere.example'],
    ['/rpc/', 'http://node:9334'],
    ['', 'http://node:9334'],
  ])('to %s: the log has its origin, clients do not', (location, redirectsTo) => {
    const page = { 'content-type': 'text/html', location };
    const error = errorOf({ status: 302, headers: page, beginning: '<html>' });
    expect(error).toBeInstanceOf(UpstreamBadStatusError);
    expect(error?.message).toBe(
      'The node responded with HTTP status 302, a redirect, which the gateway does not follow.',
    );
    expect(error?.details).toEqual({ host: 'node', redirectsTo });
    expect(error?.retryable).toBe(false);
  });

  test.each([undefined, 'http://'])('without a target is a bad status: %j', (location) => {
    expect(errorOf({ status: 301, headers: { location } })?.message).toBe('The node responded with HTTP status 301.');
  });
});

describe('a server that expects HTTPS', () => {
  test.each([
    ['nginx', 'text/html', '<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>'],
    ['Apache', 'text/html', "<p>Reason: You're speaking plain HTTP to an SSL-enabled server port.<br />"],
    ['Go', 'text/plain', 'Client sent an HTTP request to an HTTPS server.\n'],
  ])('is named in the error: %s', (_, type, beginning) => {
    const error = errorOf({ status: 400, headers: { 'content-type': type }, beginning });
    expect(error).toMatchObject({
      code: 'UPSTREAM_BAD_STATUS',
      message: 'The node responded with HTTP status 400 because it expects HTTPS.',
      details: { host: 'node', hint: 'the configured URL should begin with https://' },
    });
  });

  test('is not any other page with status 400', () => {
    const error = errorOf({ status: 400, headers: { 'content-type': 'text/html' }, beginning: '<html>' });
    expect(error).toBeInstanceOf(UpstreamFilteredError);
  });
});

describe('a page of a server that fails, and not of a traffic filter', () => {
  const wrongPath = { hint: 'the path of the configured URL may be wrong' };
  test.each([
    [401, false, {}],
    [404, false, wrongPath],
    [500, true, {}],
    [502, true, {}],
    [504, true, {}],
    [521, true, {}],
  ])('has status %i; retryable: %s', (status, retryable, hint) => {
    expect(errorOf({ status, headers: { 'content-type': 'text/html' }, beginning: '<html>' })).toMatchObject({
      code: 'UPSTREAM_BAD_STATUS',
      message: `The node responded with HTTP status ${status}.`,
      details: { host: 'node', ...hint },
      retryable,
    });
  });
});

describe('Retry-After', () => {
  const retryAfterOf = (retryAfter: string | undefined, status = 429) =>
    errorOf({ status, headers: { 'retry-after': retryAfter } })?.retryAfterMs;

  test('is read in seconds', () => {
    expect([retryAfterOf('7'), retryAfterOf('120', 503)]).toEqual([7_000, 120_000]);
  });

  test('is read as a date', () => {
    const ms = retryAfterOf(new Date(Date.now() + 60_000).toUTCString()) ?? 0;
    expect(ms).toBeGreaterThan(50_000);
    expect(ms).toBeLessThanOrEqual(60_000);
  });

  test.each([undefined, '0', 'soon', '-5', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
    'is no time if nothing can be read in it: %j',
    (retryAfter) => {
      expect(retryAfterOf(retryAfter)).toBeUndefined();
    },
  );

  test('of a page of a traffic filter is read too', () => {
    const headers = { 'content-type': 'text/html', 'retry-after': '7' };
    expect(errorOf({ status: 403, headers, beginning: '<html>' })).toMatchObject({
      message: 'The node is blocked by a traffic filter, which responded with HTTP status 403.',
      retryAfterMs: 7_000,
    });
  });
});
