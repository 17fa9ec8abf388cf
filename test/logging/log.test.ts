import { expect, test } from 'vitest';
import { createKeptLog } from '../support/log.ts';

test('a text that is cut within a character does not make the line invalid', () => {
  const { lines, log } = createKeptLog();
  log.info({ requestId: 'id/\ud83d', message: `${'x'.repeat(199)}\u{1f600}` }, 'line');
  expect(lines).toEqual([
    expect.objectContaining({ requestId: 'id/\ufffd', message: `${'x'.repeat(199)}\ufffd`, msg: 'line' }),
  ]);
});

test('a secret that a text is cut within is not logged in part', () => {
  const { lines, log } = createKeptLog((text) => text.replaceAll('s3cret', '[redacted]'));
  log.warn({ message: `${'x'.repeat(197)}s3cret` }, 'line');
  expect(lines).toMatchObject([{ message: `${'x'.repeat(197)}[re` }]);
});

test('texts of upstreams are cut, and examples of their data are longer', () => {
  const { lines, log } = createKeptLog();
  const text = 'x'.repeat(2_000);
  log.warn({ message: text, because: text, cause: text, example: text }, 'line');
  const cut = text.slice(0, 200);
  expect(lines).toMatchObject([{ message: cut, because: cut, cause: cut, example: text.slice(0, 1_000) }]);
});
