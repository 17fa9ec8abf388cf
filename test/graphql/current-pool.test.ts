import { describe, expect, test } from 'vitest';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

const POOL = 'id beaconHeight token1PoolValue token2PoolValue price';
const ID = `PoolPair:${PRV}-${BTC}`;
const NOW = `{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { ${POOL} } }`;

describe('PoolPair.current', () => {
  test('returns the current pool for a pool at an earlier height', async () => {
    const { ask, sandbox } = await serveGatewayForTest();
    const { height } = sandbox.chain.tip;
    const at = height - 5;
    const { data: now } = await ask(NOW);
    const { data } = await ask(
      `{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}", at: ${at}) { id beaconHeight current { ${POOL} } } }`,
    );
    expect(data.poolPair).toEqual({ id: `${ID}@${at}`, beaconHeight: at, current: now.poolPair });
    expect(now.poolPair).toMatchObject({ id: ID, beaconHeight: height });
  });

  test('returns the pool itself if it is current', async () => {
    const { ask } = await serveGatewayForTest();
    const { data } = await ask(NOW.replace('{ id', `{ current { ${POOL} } id`));
    expect(data.poolPair).toEqual({ ...data.poolPair.current, current: data.poolPair.current });
  });

  test('is current on every page of a list that stays at an earlier height', async () => {
    const { ask, advance, sandbox } = await serveGatewayForTest();
    const page = `query ($after: String) {
      poolPairs(first: 20, after: $after) { nodes { ${POOL} current { ${POOL} } } pageInfo { endCursor } }
    }`;
    const { height } = sandbox.chain.tip;
    const { data: first } = await ask(page);
    const after = first.poolPairs.pageInfo.endCursor;
    for (let blocks = 1; blocks < 4; blocks++) {
      await advance(9);
      const { data } = await ask(page, { after });
      const { data: all } = await ask(`{ poolPairs(first: 500) { nodes { ${POOL} } } }`);
      const { nodes } = data.poolPairs;
      expect(nodes.map(({ beaconHeight }: { beaconHeight: number }) => beaconHeight)).toEqual(Array(20).fill(height));
      expect(nodes.map(({ current }: { current: object }) => current)).toEqual(all.poolPairs.nodes.slice(20, 40));
      expect(all.poolPairs.nodes[20].beaconHeight).toBe(height + 9 * blocks);
    }
  });

  test('limits the validity of an answer about an earlier height to the next block', async () => {
    const { url, advance, sandbox, ask, clock } = await serveGatewayForTest({ config: { marketPollMs: 600_000 } });
    await ask('{ pairs { id } tickers { id } beaconHeight }');
    const at = sandbox.chain.tip.height - 9;
    const get = (fields: string) =>
      fetch(`${url}?${new URLSearchParams({ query: `{ poolPairs(at: ${at}) { nodes { ${fields} } } }` })}`);
    for (let blocks = 0; blocks < 4; blocks++) {
      clock.now += 40_000;
      await advance();
    }
    for (let requests = 0; requests < 9; requests++) {
      expect((await get(POOL)).headers.get('cache-control')).toContain('immutable');
      const response = await get(`${POOL} current { ${POOL} }`);
      expect(response.headers.get('cache-control')).toBe('max-age=40');
      const { data } = await response.json();
      expect(data.poolPairs.nodes[0].current.beaconHeight).toBe(sandbox.chain.tip.height);
      if (requests % 3 !== 2) continue;
      clock.now += 40_000;
      await advance();
    }
  });
});
