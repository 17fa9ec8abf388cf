import { hash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { Account } from '../../../src/server/operations/account.ts';
import { createPersistedQueries } from '../../../src/server/operations/persisted-queries.ts';
import type { Client, SentOperation } from '../../../src/server/operations/pipeline.ts';
import { startGateway } from '../../support/gateway.ts';
import { createTestPipeline, testClient } from '../../support/pipeline.ts';
import { TRANSPORTS } from '../../support/transports.ts';

const sha256 = (text: string) => hash('sha256', text);
const named = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });
const NOT_FOUND = ['PERSISTED_QUERY_NOT_FOUND'];
const PARSE_FAILED = ['GRAPHQL_PARSE_FAILED'];
const HONEST = '{ __typename }';
const unparsable = (n: number) => `{ ${n} ${'x'.repeat(19_900)}`;

let gateway: Awaited<ReturnType<typeof startGateway>>;
let url = '';
beforeAll(async () => {
  gateway = await startGateway();
  url = await gateway.app.listen(0, '127.0.0.1');
  return gateway.close;
});

/** Persisted queries of a replica, in a pipeline, with what the fleet has. */
function createReplica(fleet = new Map<string, string>()) {
  const calls: string[] = [];
  const shared = {
    async find(id: string) {
      calls.push(`find ${id}`);
      return fleet.get(id);
    },
    store(id: string, text: string) {
      calls.push(`store ${id}`);
      fleet.set(id, text);
    },
  };
  const persisted = createPersistedQueries({ documents: new Map(), isOnly: false, shared });
  const pipeline = createTestPipeline({ service: gateway.app.service, persisted });
  /** The codes of the errors of an operation. */
  const send = async (sent: SentOperation, client: Client = testClient()) => {
    const { errors = [] } = await pipeline.prepare(sent, client);
    return errors.map(({ extensions }) => extensions['code']);
  };
  return { fleet, calls, send };
}

describe('the text of a persisted query is stored only when it is valid', () => {
  test.each(Object.entries(TRANSPORTS))('over %s', async (name, ask) => {
    const id = name.replaceAll(/\W/g, '');
    const codes = async (operation: object) =>
      (await ask(url, operation)).errors?.map(({ extensions }) => extensions.code) ?? [];
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

  test('so that 300 long texts that cannot be parsed push out no other, here and in the fleet', async () => {
    const { send, fleet, calls } = createReplica();
    expect(await send({ query: HONEST, extensions: named(HONEST) })).toEqual([]);
    for (let n = 0; n < 300; n++) {
      const query = unparsable(n);
      expect(await send({ query, extensions: named(query) })).toEqual(PARSE_FAILED);
    }
    expect(await send({ extensions: named(HONEST) })).toEqual([]);
    expect(calls).toEqual([`store ${sha256(HONEST)}`]);
    expect([...fleet.values()]).toEqual([HONEST]);
  });

  test('and its client has paid for it', async () => {
    const { send, fleet } = createReplica();
    const refused = new GraphQLError('too few points', { extensions: { code: 'RATE_LIMITED' } });
    const account = new Account({ charge: () => refused } as never, {} as never, 'http');
    const poor = { ...testClient(), account };
    expect(await send({ query: HONEST, extensions: named(HONEST) }, poor)).toEqual(['RATE_LIMITED']);
    expect(fleet.size).toBe(0);
    expect(await send({ extensions: named(HONEST) })).toEqual(NOT_FOUND);
  });

  test('also one that another replica has registered', async () => {
    const bad = unparsable(1);
    const { send, calls } = createReplica(new Map([HONEST, bad].map((text) => [sha256(text), text])));
    for (let n = 0; n < 2; n++) {
      expect(await send({ extensions: named(bad) })).toEqual(PARSE_FAILED);
      expect(await send({ extensions: named(HONEST) })).toEqual([]);
    }
    // It is searched once, and not shared again.
    expect(calls.filter((call) => call.endsWith(sha256(HONEST)))).toEqual([`find ${sha256(HONEST)}`]);
    expect(calls.filter((call) => call.endsWith(sha256(bad)))).toHaveLength(2);
  });
});
