import { describe, expect, test } from 'vitest';
import { ERROR_CODES, type ErrorCode } from '../../../src/domain/error-codes.ts';
import {
  ForeignNodeError,
  GatewayError,
  HistoryUnavailableError,
  UpstreamBadStatusError,
  UpstreamRpcError,
} from '../../../src/errors.ts';
import { createErrorMask } from '../../../src/graphql/errors.ts';
import { refusedResponse } from '../../../src/server/operations/encoded-response.ts';
import { heightNotReached } from '../../../src/server/requests/refusal.ts';
import { encode } from '../../../src/server/yoga/encode.ts';

const mask = createErrorMask(() => {});

test('a multipart response has the status of application/graphql-response+json', () => {
  const accepted = { json: undefined, events: false, multipart: true };
  const options = { accepted, isGet: false, open: () => '' as const, recordErrors() {} };
  expect(encode(refusedResponse(heightNotReached('Late.', 1, true)), options).status).toBe(412);
});

/** The status for an EventSource, which reconnects after 200 only. */
function statusFor(error: Error): number {
  const accepted = { json: undefined, events: true, multipart: false };
  const options = { accepted, isGet: true, open: () => '' as const, recordErrors() {} };
  return encode(refusedResponse(mask(error)), options).status;
}

describe('an EventSource', () => {
  test.each(Object.keys(ERROR_CODES) as ErrorCode[])('reconnects after %s if it can pass', (code) => {
    const error = new GatewayError(code, 'No.');
    expect(statusFor(error)).toBe(error.retryable ? 200 : 400);
  });

  test.each<[name: string, error: GatewayError, status: number]>([
    ['a history that cannot be read', new HistoryUnavailableError(), 200],
    ['a history that is off', new HistoryUnavailableError({ isOff: true }), 400],
    ['status 503 of an upstream', new UpstreamBadStatusError('NODE', 503, '', {}), 200],
    ['status 404 of an upstream', new UpstreamBadStatusError('NODE', 404, '', {}), 400],
    ['an error of a node that cannot read its state', new UpstreamRpcError(-3000, {}), 200],
    ['an error of a node that cannot read the exchange of V3', new UpstreamRpcError(-14001, {}), 200],
    ['an error of a node that cannot read a block', new UpstreamRpcError(-2003, {}), 200],
    ['another error of a node', new UpstreamRpcError(-1, {}), 400],
    ['a node of another chain', new ForeignNodeError('x'), 400],
  ])('reconnects if the error itself can pass: %s', (_, error, status) => {
    expect([statusFor(error), error.retryable]).toEqual([status, status === 200]);
  });

  test('reconnects after an internal error, and while a height is not reached', () => {
    expect(statusFor(new TypeError('a defect'))).toBe(200);
    expect(statusFor(heightNotReached('Late.', 1, true))).toBe(200);
    expect(statusFor(heightNotReached('Too far.', 1, false))).toBe(400);
  });
});
