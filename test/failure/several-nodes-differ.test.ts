import { describe, expect, test } from 'vitest';
import { keepEvents } from '../support/events.ts';
import { FRESH, HEADS, openThreeNodes, POOLS, REFUSED, STATE, startOutage } from './three-nodes.ts';

describe('of three nodes', () => {
  test('one that lags is not read from, and is not an error', async () => {
    const { sandbox, advance, ask, nodesFigure, lines } = await openThreeNodes();
    const { height } = sandbox.chain.tip;
    await ask('{ beaconHeight }');
    sandbox.node.faults.set({ kind: 'lag', blocks: 3 });
    await advance();
    expect(await ask(STATE, { at: height })).toEqual({
      data: { beaconHeight: height + 1, now: POOLS, earlier: POOLS, service: FRESH },
    });
    expect(await nodesFigure('pdex_node_read')).toEqual([0, 1, 0]);
    await expect.poll(() => nodesFigure('pdex_node_beacon_height')).toEqual([height - 2, height + 1, height + 1]);
    expect(lines).toEqual([]);
  });

  test('one whose tip no longer moves is no longer read, and no height is missed', async () => {
    const { sandbox, advance, subscribe, nodesFigure } = await openThreeNodes();
    const { height } = sandbox.chain.tip;
    const heads = keepEvents(subscribe(HEADS));
    await expect.poll(() => heads.answers.length).toBe(1);
    for (const blocks of [1, 2, 3]) {
      sandbox.node.faults.clear();
      sandbox.node.faults.set({ kind: 'lag', blocks });
      await advance();
    }
    await expect.poll(() => heads.answers.length).toBe(4);
    expect(heads.answers).toMatchObject(
      [height, height + 1, height + 2, height + 3].map((beaconHeight) => ({ data: { head: { beaconHeight } } })),
    );
    expect(await nodesFigure('pdex_node_read')).toEqual([0, 1, 0]);
  });

  test('an archive is read for a height that others have pruned; a height that none has is HEIGHT_NOT_AVAILABLE', async () => {
    const { sandbox, ask, lines } = await openThreeNodes();
    const { height } = sandbox.chain.tip;
    await ask('{ beaconHeight }');
    const [first, second, archive] = sandbox.nodes;
    for (const node of [first, second]) node?.faults.set({ kind: 'pruned', blocks: 5 });
    const query = 'query ($at: BeaconHeight!) { poolPairs(first: 0, at: $at) { totalCount } }';
    expect(await ask(query, { at: height - 9 })).toEqual({ data: { poolPairs: POOLS } });
    expect(archive?.calls('getpdestate')).toBe(1);

    archive?.faults.set({ kind: 'pruned', blocks: 5 });
    const { data, errors } = await ask(query, { at: height - 8 });
    expect(data).toEqual({ poolPairs: null });
    expect(errors?.map(({ extensions }) => extensions)).toEqual([
      { code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: height },
    ]);
    expect(lines).toEqual([]);
  });

  test('one of another chain is never read, however high its tip is', async () => {
    const { sandbox, ask, advance, nodesFigure } = await openThreeNodes();
    await ask('{ beaconHeight }');
    sandbox.nodes[1]?.faults.set({
      kind: 'shape',
      on: 'getblockchaininfo',
      path: ['Result', 'ChainName'],
      value: 'another-chain',
    });
    sandbox.nodes[2]?.faults.set({ kind: 'lag', blocks: 1 });
    await advance();
    await startOutage(sandbox, 0, REFUSED);
    sandbox.advance(3);
    await expect.poll(() => nodesFigure('pdex_node_read')).toEqual([0, 0, 1]);
    await expect.poll(async () => (await ask('{ beaconHeight }')).data.beaconHeight).toBe(sandbox.chain.tip.height - 1);
  });
});
