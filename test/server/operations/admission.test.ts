import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../src/graphql/schema.ts';
import { createAdmission } from '../../../src/server/operations/admission.ts';
import { DEFAULT_LIMITS } from '../../support/limits.ts';

/** An operation that counts how often somebody looks at its document, which measuring it cannot do without. */
function countingOperation(query: string) {
  let looks = 0;
  const operation = {
    schema,
    contextValue: {},
    get document() {
      looks++;
      return parse(query);
    },
  };
  return { operation, looks: () => looks };
}

test.each([
  ['that may be executed', '{ __typename }', undefined],
  ['that asks for too much', `{ ${'a '.repeat(1_001)} }`.replaceAll('a ', '__typename '), 'QUERY_TOO_COMPLEX'],
])('an operation %s is measured once, however often it is asked for', (_, query, code) => {
  const { valuesOf, refusalOf } = createAdmission(DEFAULT_LIMITS, undefined);
  const { operation, looks } = countingOperation(query);
  expect(refusalOf(operation)?.extensions['code']).toBe(code);
  const looked = looks();
  expect(looked).toBeGreaterThan(0);
  expect(refusalOf(operation)?.extensions['code']).toBe(code);
  expect(valuesOf(operation)).toBe(code === undefined ? 1 : 0);
  expect(looks()).toBe(looked);
});
