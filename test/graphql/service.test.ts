import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config.ts';
import { startGatewayForTest } from '../support/gateway.ts';

describe('the gateway says of itself', () => {
  test('what it is, how fresh it is, and what it allows', async () => {
    const { ask, sandbox, clock } = await startGatewayForTest();
    await ask('{ beaconHeight pairs { id } tickers { id } }');
    const observedAt = new Date(clock.now).toISOString();
    clock.now += 1_500;
    const { data, errors } = await ask(`{ service {
      version sandbox
      head { beaconHeight previousHeight hash time observedAt ageMs stale }
      marketData { ageMs stale }
      upstreams { upstream healthy lastErrorAt lastErrorCode }
      limits { maxDepth maxComplexity maxValues maxSchemaObjects maxSiblings maxNesting maxTokens maxPageSize maxBodyBytes maxHeightsPerOperation maxResumedHeights maxOperationsPerRequest maxSubscriptionsPerConnection maxValuesPerConnection rateLimitPerSecond rateLimitBurst maxConnectionsPerAddress }
    } }`);
    expect(errors).toBeUndefined();
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(data.service).toEqual({
      version,
      sandbox: true,
      head: {
        beaconHeight: sandbox.world.tip.height,
        previousHeight: null,
        hash: sandbox.world.tip.hash,
        time: new Date(sandbox.world.tip.time * 1_000).toISOString(),
        observedAt,
        ageMs: 1_500,
        stale: false,
      },
      marketData: { ageMs: expect.any(Number), stale: false },
      upstreams: [
        { upstream: 'NODE', healthy: true, lastErrorAt: null, lastErrorCode: null },
        { upstream: 'MARKET_DATA', healthy: true, lastErrorAt: null, lastErrorCode: null },
      ],
      limits: {
        maxDepth: 15,
        maxComplexity: 20_000,
        maxValues: 300_000,
        maxSchemaObjects: 30_000,
        maxSiblings: 1_000,
        maxNesting: 200,
        maxTokens: 10_000,
        maxPageSize: 500,
        maxBodyBytes: 262_144,
        maxHeightsPerOperation: 64,
        maxResumedHeights: 32,
        maxOperationsPerRequest: 1,
        maxSubscriptionsPerConnection: 100,
        maxValuesPerConnection: 1_000_000,
        rateLimitPerSecond: null,
        rateLimitBurst: null,
        maxConnectionsPerAddress: null,
      },
    });
  });

  test('what it allows each address, where that is limited', async () => {
    const query = '{ service { limits { rateLimitPerSecond rateLimitBurst maxConnectionsPerAddress } } }';
    const limitsWith = async (config: Partial<Config>) => {
      const { ask } = await startGatewayForTest({ config });
      return (await ask(query)).data.service.limits;
    };
    expect(await limitsWith({ rateLimitPerSecond: 100, rateLimitBurst: 5_000, maxConnectionsPerAddress: 20 })).toEqual({
      rateLimitPerSecond: 100,
      rateLimitBurst: 5_000,
      maxConnectionsPerAddress: 20,
    });
    const rateAlone = { rateLimitPerSecond: 100, rateLimitBurst: 1_000, maxConnectionsPerAddress: null };
    expect(await limitsWith({ rateLimitPerSecond: 100 })).toEqual(rateAlone);
    const none = { rateLimitPerSecond: null, rateLimitBurst: null, maxConnectionsPerAddress: null };
    expect(await limitsWith({ rateLimitBurst: 5_000 })).toEqual(none);
  });

  test('that its head is stale when no block has come for several times the usual interval', async () => {
    const { ask, clock } = await startGatewayForTest();
    await ask('{ beaconHeight }');
    const query = '{ service { head { stale } } }';
    clock.now += 200_000;
    expect((await ask(query)).data.service.head.stale).toBe(false);
    clock.now += 1;
    expect((await ask(query)).data.service.head.stale).toBe(true);
  });

  test('that a head and market data are not there yet', async () => {
    const { ask } = await startGatewayForTest({
      before: ({ node, marketData }) => {
        node.faults.set({ kind: 'hang' });
        marketData.faults.set({ kind: 'hang', on: 'tickers' });
      },
    });
    const answer = await ask('{ service { head { beaconHeight } marketData { stale } } }');
    expect(answer).toEqual({ data: { service: { head: null, marketData: null } } });
  });
});
