import { expect, test } from 'vitest';
import { createKeptLog } from '../support/log.ts';

test('a text that is cut within a character does not make the line invalid', () => {
  const { lines, log } = createKeptLog();
  log.info({ requestId: 'id/\ud83d', message: `${'x'.repeat(199)}\u{1f600}` }, 'line');
  expect(lines).toEqual([
    expect.objectContaining({ requestId: 'id/\ufffd', message: `${'x'.repeat(199)}\ufffd`, msg: 'line' }),
  ]);
});
