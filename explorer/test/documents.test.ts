import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, type DocumentNode, isObjectType, Kind, parse, Source, visit } from 'graphql';
import { describe, expect, test } from 'vitest';
import { KEYS } from '../src/client/cache.ts';

const ROOT = join(import.meta.dirname, '../..');
const schema = buildSchema(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'));

const documents = globSync('explorer/src/**/*.graphql', { cwd: ROOT })
  .sort()
  .map((path): [string, DocumentNode] => [path, parse(new Source(readFileSync(join(ROOT, path), 'utf8'), path))]);

test('the cache has a key for every object type: an id, a name, or null for what belongs to another object', () => {
  const withoutId = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !type.name.startsWith('__') && type.getFields()['id'] === undefined)
    .map(({ name }) => name)
    // The cache knows these by their names.
    .filter((name) => !/^(Query|Subscription|PageInfo|\w+(Connection|Edge))$/.test(name));
  expect(Object.keys(KEYS).toSorted()).toEqual([...withoutId, 'Head', 'Trade'].toSorted());
});

describe.each(documents)('%s', (_path, document) => {
  const operations = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);

  test('names its operations', () => {
    expect(operations.filter(({ name }) => name === undefined)).toEqual([]);
  });

  test('requests no fixed page of pools: the operator may allow smaller pages only', () => {
    const fixed: string[] = [];
    visit(document, {
      Field({ name, arguments: given = [] }) {
        const size = given.find((argument) => argument.name.value === 'first')?.value;
        if (name.value === 'poolPairs' && size?.kind === Kind.INT) fixed.push(size.value);
      },
    });
    expect(fixed).toEqual([]);
  });

  test('selects the height of each answer, so that heights never go back on the screen', () => {
    const without = operations
      .filter(({ operation }) => operation === 'query')
      .filter(
        ({ selectionSet }) =>
          !selectionSet.selections.some((field) => field.kind === Kind.FIELD && field.name.value === 'beaconHeight'),
      );
    expect(without.map(({ name }) => name?.value)).toEqual([]);
  });
});
