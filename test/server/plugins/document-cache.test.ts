import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { createDocumentCaches } from '../../../src/server/plugins/document-cache.ts';

test('documents are kept by their size in all, large ones and refused ones not at all', () => {
  const { documentCache, errorCache } = createDocumentCaches();
  const document = parse('{ beaconHeight }');
  documentCache.set('{ beaconHeight }', document);
  documentCache.set('x'.repeat(20_001), document);
  errorCache.set('{', new Error('no'));
  expect(documentCache.get('{ beaconHeight }')).toBe(document);
  expect(documentCache.get('x'.repeat(20_001))).toBeUndefined();
  expect(errorCache.get('{')).toBeUndefined();

  for (let n = 0; n < 200; n++) documentCache.set(`${n} ${'y'.repeat(15_000)}`, document);
  expect(documentCache.calculatedSize).toBeLessThanOrEqual(500_000);
  expect(documentCache.get('{ beaconHeight }')).toBeUndefined();
});
