import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { HistoryStore } from '../../src/history/store.ts';
import type { Config } from '../../src/settings/settings.ts';
import { createStoreModel } from '../history/store-model.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { DEFAULT_LIMITS } from '../support/limits.ts';

const NO_ADDRESS_LIMITS = { rateLimitPerSecond: null, rateLimitBurst: null, maxConnectionsPerAddress: null };

describe('the service field', () => {
  test('has the version, the age of the data, the health of upstreams and all limits', async () => {
    const { ask, sandbox, clock } = await startGatewayForTest();
    await ask('{ beaconHeight pairs { id } tickers { id } }');
    const observedAt = new Date(clock.now).toISOString();
    clock.now += 1_500;
    const { data, errors } = await ask(`{ service {
      version sandbox time historyStatus
      head { beaconHeight previousHeight hash time observedAt ageMs stale }
      marketData { ageMs stale }
      upstreams { upstream configured healthy lastErrorAt lastErrorCode }
      limits { ${Object.keys({ ...DEFAULT_LIMITS, ...NO_ADDRESS_LIMITS }).join(' ')} }
    } }`);
    expect(errors).toBeUndefined();
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(data.service).toEqual({
      version,
      sandbox: true,
      time: new Date(clock.now).toISOString(),
      historyStatus: 'OFF',
      head: {
        beaconHeight: sandbox.chain.tip.height,
        previousHeight: null,
        hash: sandbox.chain.tip.hash,
        time: new Date(sandbox.chain.tip.time * 1_000).toISOString(),
        observedAt,
        ageMs: 1_500,
        stale: false,
      },
      marketData: { ageMs: expect.any(Number), stale: false },
      upstreams: [
        { upstream: 'NODE', configured: true, healthy: true, lastErrorAt: null, lastErrorCode: null },
        { upstream: 'MARKET_DATA', configured: true, healthy: true, lastErrorAt: null, lastErrorCode: null },
      ],
      limits: { ...DEFAULT_LIMITS, ...NO_ADDRESS_LIMITS },
    });
  });

  test('says which upstream has no address', async () => {
    const { ask } = await startGatewayForTest({ without: 'MARKET_DATA' });
    const { data } = await ask('{ service { upstreams { upstream configured } } }');
    expect(data.service.upstreams).toEqual([
      { upstream: 'NODE', configured: true },
      { upstream: 'MARKET_DATA', configured: false },
    ]);
  });

  test('says whether the history is recorded, and whether it can be read', async () => {
    const statusWith = async (store: HistoryStore) => {
      const { ask, advance } = await startGatewayForTest({ store });
      await advance(5);
      return async () => (await ask('{ service { historyStatus } }')).data.service.historyStatus;
    };
    const full = { ...createStoreModel(), record: () => Promise.reject(new Error('the disk is full')) };
    await expect.poll(await statusWith(full)).toBe('UNAVAILABLE');
    await expect.poll(await statusWith(createStoreModel())).toBe('RECORDING');
  });

  test('has the limits of client addresses where they are set', async () => {
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
    expect(await limitsWith({ rateLimitBurst: 5_000 })).toEqual(NO_ADDRESS_LIMITS);
  });

  test('has a stale head when no block has come for several block intervals', async () => {
    const { ask, clock } = await startGatewayForTest();
    await ask('{ beaconHeight }');
    const query = '{ service { head { stale } } }';
    clock.now += 200_000;
    expect((await ask(query)).data.service.head.stale).toBe(false);
    clock.now += 1;
    expect((await ask(query)).data.service.head.stale).toBe(true);
  });

  test('has neither a head nor market data before the first responses', async () => {
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
