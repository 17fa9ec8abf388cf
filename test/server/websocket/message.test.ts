import { describe, expect, test } from 'vitest';
import { OperationPayload, parseMessage, textOfPayload } from '../../../src/server/websocket/message.ts';

const parse = (text: string) => parseMessage(Buffer.from(text)) as unknown as Record<string, never>;
const textIn = (text: string) => textOfPayload(parse(text)['payload'] as never);

describe('the text of a payload', () => {
  test.each([
    ['{"id":"1","type":"subscribe","payload":{"query":"{ x }"}}', '{"query":"{ x }"}'],
    ['{"type":"subscribe","id":"a-1","payload":{"query":"{ x }"}}', '{"query":"{ x }"}'],
    [
      '{"id": "1", "type": "subscribe", "payload": {"query": "{ x }", "variables": {"a": 1}}}',
      '{"query": "{ x }", "variables": {"a": 1}}',
    ],
  ])('is cut from %s', (message, text) => {
    const { id } = JSON.parse(message);
    expect(parse(message)).toEqual({ id, type: 'subscribe', payload: new OperationPayload(JSON.parse(text), text) });
    expect(textIn(message)).toBe(text);
  });

  test('has a character for each byte', () => {
    const payload = '{"query":"{ x } # é"}';
    const message = `{"id":"1","type":"subscribe","payload":${payload}}`;
    expect(textIn(message)).toBe(Buffer.from(payload).toString('latin1'));
    expect(parse(message)['payload']).toMatchObject({ query: '{ x } # é' });
  });

  test.each([
    '{"payload":{"query":"{ x }"},"id":"1","type":"subscribe"}',
    '{"id":"1","type":"subscribe","payload":{"query":"{ x }"},"payload":{"query":"{ y }"}}',
    '{"id":"1","type":"subscribe","payload":{"query":"{ x }"},"id":"2"}',
    '{"id":"1","type":"subscribe","payload":{"query":"{ x }","other":1}}',
    '{"id":"1","type":"subscribe","payload":{"query":"{ x }","text":"{}"}}',
    '{"id":"é","type":"subscribe","payload":{"query":"{ x }"}}',
    '{"id":"\\u0031","type":"subscribe","payload":{"query":"{ x }"}}',
    '{"id":"1","type":"subscribe","payload":{"query":"{ x }"}} ',
    '{"id":"1","type":"subscribe","payload":{"query":1}}',
    '{"id":"1","type":"complete","payload":{"query":"{ x }"}}',
  ])('is unknown in %s, which is parsed as JSON', (message) => {
    expect(textIn(message)).toBeUndefined();
    expect(parse(message)).toEqual(JSON.parse(message));
  });
});

// RFC 8259, section 8.1: a parser of JSON may ignore a byte order mark.
test('a byte order mark before a message is ignored', () => {
  const message = '{"id":"1","type":"subscribe","payload":{"query":"{ x } # é"}}';
  expect(parse(`\ufeff${message}`)).toEqual(JSON.parse(message));
  expect(parse('\ufeff{"type":"connection_init"}')).toEqual({ type: 'connection_init' });
});

test('what is not an object is handed on as text', () => {
  expect(['{', '1', '"a"', '{"id":"1","type":"subscribe","payload":{}'].map(parse)).toEqual([
    '{',
    '1',
    '"a"',
    '{"id":"1","type":"subscribe","payload":{}',
  ]);
});
