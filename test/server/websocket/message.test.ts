import { describe, expect, test } from 'vitest';
import { keyOfPayload, parseMessage } from '../../../src/server/websocket/protocol.ts';

const parse = (text: string) => parseMessage(Buffer.from(text)) as unknown as Record<string, never>;
const keyIn = (text: string) => keyOfPayload(parse(text)['payload'] as never);
const subscribe = (payload: string) => `{"id":"1","type":"subscribe","payload":${payload}}`;

describe('the key of a payload', () => {
  test.each([
    ['{"query":"{ x }"}', '{"query":"{ x }"}'],
    ['{"query": "{ x }", "variables": {"a": 1}}', '{"query":"{ x }","variables":{"a":1}}'],
    ['{"query":"{ x }","query":"{ y }"}', '{"query":"{ y }"}'],
    ['{"other":1,"query":"{ x }"}', '{"query":"{ x }"}'],
    ['{"query":"{ x }","__proto__":{}}', '{"query":"{ x }"}'],
    ['{"extensions":{"minHeight":1,"other":1},"query":"{ x }"}', '{"extensions":{"minHeight":1},"query":"{ x }"}'],
  ])('is the JSON of %s', (payload, key) => {
    expect(keyIn(subscribe(payload))).toBe(key);
  });

  test('has a character for each byte', () => {
    const payload = '{"query":"{ x } # é"}';
    expect(keyIn(subscribe(payload))).toBe(Buffer.from(payload).toString('latin1'));
    expect(parse(subscribe(payload))['payload']).toEqual({ query: '{ x } # é' });
  });

  test('is unknown if the payload is nested too deeply for JSON.stringify', () => {
    // Without the key "0", it takes any depth.
    const payload = `{"query":"{ x }","variables":{"0":${'['.repeat(16_000)}${']'.repeat(16_000)}}}`;
    expect(keyIn(subscribe(payload))).toBeUndefined();
  });

  test.each([
    '{"query":1}',
    '{"query":"{ x }","operationName":1}',
    '{"query":"{ x }","variables":[]}',
    `{"query":"{ x } #${'x'.repeat(20_000)}"}`,
  ])('is unknown for %.60s, which is parsed as JSON', (payload) => {
    expect(keyIn(subscribe(payload))).toBeUndefined();
    expect(parse(subscribe(payload))).toEqual(JSON.parse(subscribe(payload)));
  });
});

// RFC 8259, section 8.1: a parser of JSON may ignore a byte order mark.
test('a byte order mark before a message is ignored', () => {
  const message = '{"id":"1","type":"subscribe","payload":{"query":"{ x } # é"}}';
  expect(parse(`\ufeff${message}`)).toEqual(JSON.parse(message));
  expect(parse('\ufeff{"type":"connection_init"}')).toEqual({ type: 'connection_init' });
});

test('members that nothing reads are deleted', () => {
  const persistedQuery = { version: 1, sha256Hash: 'x', other: [1] };
  const payload = { query: '{ x }', variables: { other: 1 }, other: [1], extensions: { other: [1], persistedQuery } };
  expect(parse(JSON.stringify({ other: [1], id: '1', type: 'subscribe', payload }))).toEqual({
    id: '1',
    type: 'subscribe',
    payload: {
      query: '{ x }',
      variables: { other: 1 },
      extensions: { persistedQuery: { version: 1, sha256Hash: 'x' } },
    },
  });
  const init = { type: 'connection_init', payload: { other: 1 } };
  expect(parse(JSON.stringify(init))).toEqual(init);
});

test('bytes that are not UTF-8 are no JSON', () => {
  const bytes = Buffer.from('{"id":"\xff","type":"subscribe","payload":{"query":"{ x }"}}', 'latin1');
  expect(() => JSON.parse(parseMessage(bytes))).toThrow(SyntaxError);
});

test('what is not an object is handed on as text', () => {
  expect(['{', '1', '"a"', '{"id":"1","type":"subscribe","payload":{}'].map(parse)).toEqual([
    '{',
    '1',
    '"a"',
    '{"id":"1","type":"subscribe","payload":{}',
  ]);
});
