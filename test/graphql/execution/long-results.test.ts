import { buildSchema, execute, GraphQLError, parse } from 'graphql';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { EncodedResponse, encodeUpdate } from '../../../src/server/operations/encoded-response.ts';
import { nextMessage } from '../../../src/server/websocket/sending.ts';
import { executePlanned } from '../../support/executions.ts';
import { repeat } from '../../support/operations.ts';

const schema = buildSchema('type Query { things: [Thing] } type Thing { name: String later: String inside: [Thing] }');

/** Beyond ASCII, so that bytes and characters differ. */
const name = 'ä€ "x" '.repeat(100);
const thing = {
  name,
  later: () => Promise.resolve(name),
  inside: () => [{ name }, Promise.resolve({ name }), { name }],
};
const things = Array.from({ length: 21 }, (_, n) => (n % 7 === 0 ? Promise.resolve(thing) : thing));

const aliases = repeat(20, (n) => `a${n}: name`);
const OPERATIONS = {
  'in a list': `{ things { ${aliases} } }`,
  'in lists in a list': `{ things { inside { ${aliases} } name } }`,
  'in several root fields': `{ ${repeat(5, (n) => `r${n}: things { ${aliases} }`)} }`,
  'with promises in it': `{ things { later ${aliases} inside { later ${aliases} } } after: things { later } }`,
};

let isSliceOver = true;
beforeEach(() => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    if (isSliceOver) now += 10;
    return now;
  });
  isSliceOver = true;
  return () => clock.mockRestore();
});

describe.each(Object.entries(OPERATIONS))('a long result, written in many slices: %s', (_name, query) => {
  const operation = { schema, document: parse(query), rootValue: { things } };

  test('has the bytes of graphql-js, in pieces', async () => {
    const expected = JSON.stringify(await execute(operation));
    const result = await executePlanned(operation);
    expect(result.toText()).toBe(expected);

    const { body, bytes } = new EncodedResponse(result);
    expect(body.length).toBeGreaterThan(1);
    const sent = Buffer.concat(body.map((piece) => Buffer.from(piece as Buffer)));
    expect(sent.toString()).toBe(expected);
    expect(bytes).toBe(sent.length);

    const update = encodeUpdate(result, undefined);
    expect(update.toText()).toBe(expected);
    expect(update.encoded('1', nextMessage).toString().endsWith(`"payload":${expected}}`)).toBe(true);
    expect(update.toText()).toBe(expected);
  });

  test('is the same with errors before it and extensions after it', async () => {
    const { text } = await executePlanned(operation);
    isSliceOver = false;
    const { text: whole } = await executePlanned(operation);
    const error = new GraphQLError('It failed.');
    const results = [text, whole].map((each) => new WrittenResult(each, [error], { cost: 1 }).toText());
    expect(results[0]).toBe(results[1]);
    expect(JSON.parse(results[0] ?? '')).toMatchObject({
      errors: [{ message: 'It failed.' }],
      extensions: { cost: 1 },
    });
  });
});
