import { describe, expect, test } from 'vitest';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { type EncodedUpdate, encodeUpdate } from '../../../src/server/operations/encoded-response.ts';
import { nextMessage } from '../../../src/server/websocket/sending.ts';

const messageOf = (id: string, text: string) => `{"id":${JSON.stringify(id)},"type":"next","payload":${text}}`;

describe('an update', () => {
  test.each([[10], [1_000], [100_000]])(
    'is the same in each message and as text, before and after: %i characters',
    (length) => {
      const update: EncodedUpdate = encodeUpdate(
        new WrittenResult(JSON.stringify({ word: 'ä€'.repeat(length / 2) })),
        undefined,
      );
      const text = JSON.stringify({ data: { word: 'ä€'.repeat(length / 2) } });
      expect(update.toText()).toBe(text);
      for (const id of ['1', 'ä "longer" one', '2']) {
        expect(String(update.encoded(id, nextMessage))).toBe(messageOf(id, text));
        expect(update.encoded(id, nextMessage)).toBe(update.encoded(id, nextMessage));
        expect(update.toText()).toBe(text);
      }
    },
  );
});
