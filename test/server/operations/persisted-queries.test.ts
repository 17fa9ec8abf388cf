import { hash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { describe, expect, test } from 'vitest';
import { Account } from '../../../src/server/clients/rate-limits.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { createPersistedQueries } from '../../../src/server/operations/persisted-queries.ts';
import type { Client } from '../../../src/server/operations/prepared-operation.ts';
import type { SentOperation } from '../../../src/server/requests/parameters.ts';
import { startGatewayForTests } from '../../support/gateway.ts';
import { createTestPipeline, testClient } from '../../support/pipeline.ts';
import { TRANSPORTS } from '../../support/transports.ts';

const sha256 = (text: string) => hash('sha256', text);
const named = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });
const NOT_FOUND = ['PERSISTED_QUERY_NOT_FOUND'];
const PARSE_FAILED = ['GRAPHQL_PARSE_FAILED'];
const HONEST = '{ __typename }';
const long = (n: number) => `{ __typename } #${n}`.padEnd(15_000, '#');
const unparsable = (n: number) => `{ ${n} ${'x'.repeat(19_900)}`;

const gateway = startGatewayForTests();

/** Persisted queries in a pipeline of their own. */
function createOwnPipeline() {
  const persisted = createPersistedQueries({ documents: new Map(), isOnly: false });
  const metrics = createMetrics('test');
  const pipeline = createTestPipeline({ service: gateway.app.service, persisted, metrics });
  /** The codes of the errors of an operation. */
  const send = async (sent: SentOperation, client: Client = testClient()) => {
    const { errors = [] } = await pipeline.prepare(sent, client);
    return errors.map(({ extensions }) => extensions['code']);
  };
  return { send, metrics };
}

describe('the text of a persisted query is stored only when it is valid', () => {
  test.each(Object.entries(TRANSPORTS))('over %s', async (name, ask) => {
    const id = name.replaceAll(/\W/g, '');
    const codes = async (operation: object) =>
      (await ask(gateway.url, operation)).errors?.map(({ extensions }) => extensions.code) ?? [];
    for (const [query, code] of [
      [`{ "${name}`, 'GRAPHQL_PARSE_FAILED'],
      [`{ ${id} }`, 'GRAPHQL_VALIDATION_FAILED'],
    ] as const) {
      expect(await codes({ query, extensions: named(query) })).toEqual([code]);
      expect(await codes({ query: '', extensions: named(query) })).toEqual(NOT_FOUND);
    }
    const query = `query ${id} { __typename }`;
    expect(await codes({ query, extensions: named(query) })).toEqual([]);
    expect(await codes({ query: '', extensions: named(query) })).toEqual([]);
  });

  test('so that 300 long texts that cannot be parsed push out no other', async () => {
    const { send, metrics } = createOwnPipeline();
    expect(await send({ extensions: named(HONEST) })).toEqual(NOT_FOUND);
    expect(await send({ query: HONEST, extensions: named(HONEST) })).toEqual([]);
    for (let n = 0; n < 300; n++) {
      const query = unparsable(n);
      expect(await send({ query, extensions: named(query) })).toEqual(PARSE_FAILED);
    }
    expect(await send({ extensions: named(HONEST) })).toEqual([]);
    // A hash that is not known is not refused: the client sends the text next.
    expect(await metrics.text()).toContain('pdex_operations_total{type="any",outcome="refused"} 300');
  });

  test('and its client has paid for it', async () => {
    const { send } = createOwnPipeline();
    const refused = new GraphQLError('too few points', { extensions: { code: 'RATE_LIMITED' } });
    const account = new Account({ charge: () => refused } as never, {} as never, 'http');
    const poor = { ...testClient(), account };
    expect(await send({ query: HONEST, extensions: named(HONEST) }, poor)).toEqual(['RATE_LIMITED']);
    expect(await send({ extensions: named(HONEST) })).toEqual(NOT_FOUND);
    // A hash that is not known costs a point too.
    expect(await send({ extensions: named(HONEST) }, poor)).toEqual(['RATE_LIMITED']);
  });
});

test('the text of a persisted query is evicted when all that were stored later are too long to keep it', () => {
  const { store, resolve } = createPersistedQueries({ documents: new Map(), isOnly: false });
  const last = 300;
  for (let n = 0; n <= last; n++) store({ extensions: named(long(n)) }, long(n));
  expect(resolve({ extensions: named(long(last)) })).toEqual({ text: long(last) });
  expect(() => resolve({ extensions: named(long(0)) })).toThrow('PersistedQueryNotFound');
});
