import { describe, expect, test } from 'vitest';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { type EncodedUpdate, encodeUpdate } from '../../../src/server/operations/encoded-update.ts';
import { nextFrame } from '../../../src/server/websocket/frame.ts';

/** The text of a frame, whose length is encoded in one of three ways: RFC 6455, section 5.2. */
function readFrame(frame: Buffer): string {
  const short = frame.readUInt8(1);
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  const length = short === 127 ? Number(frame.readBigUInt64BE(2)) : short === 126 ? frame.readUInt16BE(2) : short;
  expect([frame.readUInt8(0), frame.length]).toEqual([0x81, start + length]);
  return frame.toString('utf8', start);
}

const messageOf = (id: string, text: string) => `{"id":${JSON.stringify(id)},"type":"next","payload":${text}}`;

describe('an update', () => {
  test.each([[10], [1_000], [100_000]])(
    'is the same in each frame and as text, before and after: %i characters',
    (length) => {
      const update: EncodedUpdate = encodeUpdate(
        new WrittenResult(JSON.stringify({ word: 'ä€'.repeat(length / 2) })),
        undefined,
      );
      const text = JSON.stringify({ data: { word: 'ä€'.repeat(length / 2) } });
      expect(update.toText()).toBe(text);
      for (const id of ['1', 'ä "longer" one', '2']) {
        expect(readFrame(update.encoded(id, nextFrame))).toBe(messageOf(id, text));
        expect(update.encoded(id, nextFrame)).toBe(update.encoded(id, nextFrame));
        expect(update.toText()).toBe(text);
      }
    },
  );
});
