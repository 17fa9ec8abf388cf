import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, type GraphQLObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { toLimitRows } from '../../src/pages/status/limit-rows.ts';

const schema = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema.graphql'), 'utf8'));
const fields = Object.keys((schema.getType('Limits') as GraphQLObjectType).getFields());

test('there is a row for each limit, with its unit; a limit that is off is "none"', () => {
  const limits = Object.fromEntries(fields.map((name) => [name, 12_345]));
  const rows = toLimitRows({ ...limits, maxConnectionsPerAddress: null } as never);
  const named = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  expect(Object.keys(named).sort()).toEqual(fields.toSorted());
  expect(named).toMatchObject({ maxBodyBytes: '12.1 KiB', maxPageSize: '12,345', maxConnectionsPerAddress: 'none' });
});
