import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gql, HttpLink } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { generatePersistedQueryIdsFromManifest } from '@apollo/persisted-query-lists';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readPersistedManifest } from '../../src/settings/files.ts';
import { connectApollo } from '../support/apollo.ts';
import { sampleUnder } from '../support/doc-pages.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';
import { createRelayClient } from './relay/client.ts';
import { compileDocuments } from './relay/compile.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Serves a gateway that executes only the documents of a manifest. */
async function serveManifest(path: string) {
  return serveGatewayForTest({ config: { persistedDocuments: readPersistedManifest(path), persistedOnly: true } });
}

describe('the manifest of generate-persisted-query-manifest', () => {
  const QUERY = 'query Height { service { version } beaconHeight }';

  function generate(): string {
    const folder = mkdtempSync(join(tmpdir(), 'pdex-apollo-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'queries.graphql'), QUERY);
    writeFileSync(
      join(folder, 'persisted-query-manifest.config.json'),
      JSON.stringify({ documents: ['*.graphql'], output: 'manifest.json' }),
    );
    const command = join(ROOT, 'node_modules/.bin/generate-persisted-query-manifest');
    execFileSync(process.execPath, [command], { cwd: folder, stdio: 'pipe' });
    return join(folder, 'manifest.json');
  }

  test('is what Apollo Client names its queries by, with PERSISTED_ONLY', async () => {
    const path = generate();
    const gateway = await serveManifest(path);
    const bodies: string[] = [];
    const link = new PersistedQueryLink(
      generatePersistedQueryIdsFromManifest({ loadManifest: () => JSON.parse(readFileSync(path, 'utf8')) }),
    ).concat(
      new HttpLink({
        uri: gateway.url,
        fetch(input, init) {
          bodies.push(String(init?.body));
          return fetch(input, init);
        },
      }),
    );
    const client = connectApollo(gateway, { http: link });
    const { data } = await client.query<{ beaconHeight: number }>({ query: gql(QUERY) });
    expect(data?.beaconHeight).toBe(gateway.sandbox.chain.tip.height);
    expect(bodies.map((body) => Object.keys(JSON.parse(body)).toSorted())).toEqual([
      ['extensions', 'operationName', 'variables'],
    ]);
  });
});

test('the manifest of relay-compiler is what Relay names its queries and subscriptions by, with PERSISTED_ONLY', async () => {
  const config = JSON.parse(sampleUnder('docs/clients.md', 'Relay', 'json'));
  const persistConfig = JSON.parse(sampleUnder('docs/clients.md', 'Persisted documents', 'json'));
  const artifacts = compileDocuments(
    readFileSync(join(ROOT, 'schema.graphql'), 'utf8'),
    JSON.stringify({ ...config, ...persistConfig }),
  );
  onTestFinished(artifacts.remove);
  const gateway = await serveManifest(artifacts.pathOf('persisted.json'));
  const client = createRelayClient(gateway.url);
  const query = await artifacts.read('poolsPastQuery');
  expect([typeof query.params.id, query.params.text]).toEqual(['string', null]);

  const { height } = gateway.sandbox.chain.tip;
  const pool = await artifacts.read('pools_pool');
  const { past, now } = await client.load(query, { token1Id: BTC, token2Id: PRV, at: height - 5 });
  expect(client.read(pool, past).beaconHeight).toBe(height - 5);

  const subscription = await artifacts.read('poolsPricesSubscription');
  const failed = new Promise<never>((_, reject) => client.subscribe(subscription, { onlyChanged: false }, reject));
  const shown = client.untilShown(pool, now, ({ beaconHeight }) => beaconHeight > height);
  gateway.sandbox.advance();
  expect((await Promise.race([shown, failed])).beaconHeight).toBe(height + 1);
});
