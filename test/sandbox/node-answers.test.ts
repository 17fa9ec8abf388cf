import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { beaconState, bestBlocks, fixedSandbox, noon, rpc, rpcText, stateAt } from './support.ts';

const hash = /^[0-9a-f]{64}$/;
const start = 1_640_000;
let sandbox: SandboxHosts;
beforeAll(async () => {
  sandbox = await fixedSandbox();
});
afterAll(() => sandbox.close());

describe('getblockchaininfo', () => {
  test('has every field, the beacon first', async () => {
    const text = await rpcText(sandbox.nodeUrl, 'getblockchaininfo');
    const { Result, ...envelope } = JSON.parse(text);
    expect(envelope).toEqual({ Id: 1, Error: null, Params: [], Method: 'getblockchaininfo', Jsonrpc: '1.0' });
    expect(Object.keys(Result)).toEqual(['ChainName', 'BestBlocks', 'ActiveShards']);
    expect(Result).toMatchObject({ ChainName: 'sandbox', ActiveShards: 8 });
    expect([...text.matchAll(/\n\t\t\t"(-?\d)": \{/g)].map(([, key]) => key)).toEqual(['-1', ...'01234567']);

    for (const block of Object.values(Result.BestBlocks)) {
      expect(block).toEqual({
        Height: expect.any(Number),
        Hash: expect.stringMatching(hash),
        TotalTxs: expect.any(Number),
        BlockProducer: expect.stringMatching(/^121V[1-9A-HJ-NP-Za-km-z]{428}$/),
        ValidationData: expect.any(String),
        Epoch: expect.any(Number),
        Time: expect.any(Number),
        RemainingBlockEpoch: expect.any(Number),
        EpochBlock: expect.any(Number),
      });
    }
  });

  test('has an epoch only for the beacon', async () => {
    const blocks = await bestBlocks(sandbox.nodeUrl);
    // 1,640,000 is 4,685 epochs of 350 blocks and 250 blocks of the next.
    expect(blocks['-1']).toMatchObject({ Height: start, TotalTxs: 0, Time: noon });
    expect(blocks['-1']).toMatchObject({ Epoch: 4_686, RemainingBlockEpoch: 100, EpochBlock: 350 });
    for (let id = 0; id < 8; id++) {
      expect(blocks[id]).toMatchObject({ Epoch: 0, RemainingBlockEpoch: 0, EpochBlock: 0 });
      expect(noon - (blocks[id]?.Time ?? 0)).toBeLessThan(400);
      expect(blocks[id]?.TotalTxs).toBeGreaterThan(0);
    }
  });

  test('never has zero blocks until the next epoch', async () => {
    await using other = await fixedSandbox({ history: 5, startHeight: 349 * 5 + 5 });
    const seen: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const beacon = (await bestBlocks(other.nodeUrl))['-1'];
      seen.push([beacon?.Height, beacon?.Epoch, beacon?.RemainingBlockEpoch]);
      other.advance();
    }
    expect(seen).toEqual([
      [1_750, 5, 350],
      [1_751, 6, 349],
      [1_752, 6, 348],
    ]);
  });

  test('has signatures of some or all validators, and sometimes none', async () => {
    await using other = await fixedSandbox({ history: 5 });
    const documents: string[] = [];
    for (let i = 0; i < 25; i++) {
      for (const block of Object.values(await bestBlocks(other.nodeUrl))) documents.push(block?.ValidationData ?? '?');
      other.advance();
    }

    expect(documents).toContain('');
    const parsed = documents.filter((text) => text !== '').map((text) => JSON.parse(text));
    for (const document of parsed) {
      expect(Object.keys(document).slice(0, 5)).toEqual([
        'ProducerBLSSig',
        'ProducerBriSig',
        'ValidatiorsIdx',
        'AggSig',
        'BridgeSig',
      ]);
      expect(document.ProducerBLSSig).toMatch(/^[A-Za-z0-9+/]{87}=$/);
      expect(document.AggSig).toMatch(/^[A-Za-z0-9+/]{43}=$/);
      expect(document.BridgeSig).toEqual(document.ValidatiorsIdx.map(() => ''));
    }
    expect(parsed.some(({ ValidatiorsIdx: indexes }) => indexes.at(-1) !== indexes.length - 1)).toBe(true);
    expect(parsed.some(({ ProducerBriSig }) => ProducerBriSig === null)).toBe(true);
    expect(
      new Set(parsed.map((document) => ('PortalSig' in document ? typeof document.PortalSig?.length : 'absent'))),
    ).toEqual(new Set(['absent', 'undefined', 'number']));
  });
});

describe('getbeaconbeststatedetail', () => {
  test('is a large document for any parameters', async () => {
    const text = await rpcText(sandbox.nodeUrl, 'getbeaconbeststatedetail', [{ BeaconHeight: 3 }]);
    const { Result } = JSON.parse(text);
    expect(text.length).toBeGreaterThan(25_000);
    expect(Result.BeaconHeight).toBe(start);
    expect(Result.Epoch).toBe(4_686);
    expect(Result.BestBlockHash).toBe(sandbox.chain.tip.hash);
    expect(Result.PreviousBestBlockHash).toBe(sandbox.chain.block(start - 1)?.hash);
    expect(Object.keys(Result.BestShardHash)).toEqual([...'01234567']);
    expect(Result.BestShardHeight[3]).toBe(sandbox.chain.tip.shards[3]?.height);
    expect(Result.BeaconCommittee[0]).toEqual({
      IncPubKey: expect.any(String),
      MiningPubKey: { bls: expect.any(String), dsa: expect.any(String) },
    });
    expect(Result.ShardHandle).toBe(null);
  });

  test('prints an integer above 2^53 exactly', async () => {
    const text = await rpcText(sandbox.nodeUrl, 'getbeaconbeststatedetail', ['']);
    const digits = /"CurrentRandomNumber": (\d+),/.exec(text)?.[1] ?? '';
    expect(Number.isSafeInteger(Number(digits))).toBe(false);
    expect(BigInt(Number(digits))).not.toBe(BigInt(digits));
  });

  test('agrees with getblockchaininfo on hashes and heights', async () => {
    const blocks = await bestBlocks(sandbox.nodeUrl);
    const state = await beaconState(sandbox.nodeUrl);
    expect(state.BestBlockHash).toBe(blocks['-1']?.Hash);
    for (const shard of '01234567') {
      expect(state.BestShardHash[shard]).toBe(blocks[shard]?.Hash);
      expect(state.BestShardHeight[shard]).toBe(blocks[shard]?.Height);
    }
  });
});

describe('getpdestate', () => {
  test('has five sections, their keys sorted and each with the requested height', async () => {
    const { Result, Params } = await stateAt(sandbox.nodeUrl, start - 7);
    expect(Params).toEqual([{ BeaconHeight: start - 7 }]);
    expect(Object.keys(Result)).toEqual([
      'WaitingPDEContributions',
      'PDEPoolPairs',
      'PDEShares',
      'PDETradingFees',
      'BeaconTimeStamp',
    ]);
    expect(Result.BeaconTimeStamp).toBe(noon - 7 * 40);

    const patterns = {
      WaitingPDEContributions: /^waitingpdecontribution-1639993-[-a-z0-9]+$/,
      PDEPoolPairs: /^pdepool-1639993-[0-9a-f]{64}-[0-9a-f]{64}$/,
      PDEShares: /^pdeshare-1639993-[0-9a-f]{64}-[0-9a-f]{64}-[1-9A-Za-z]{103}$/,
      PDETradingFees: /^pdetradingfee-1639993-[0-9a-f]{64}-[0-9a-f]{64}-[1-9A-Za-z]{103}$/,
    };
    for (const section of Object.keys(patterns) as (keyof typeof patterns)[]) {
      const keys = Object.keys(Result[section]);
      expect(keys).toEqual(keys.toSorted());
      expect(keys.every((key) => patterns[section].test(key))).toBe(true);
    }
    expect(Object.values(Result.PDEShares).every((share) => Number.isInteger(share))).toBe(true);
    expect(Object.values(Result.PDEShares)).toContain(0);
    expect(Object.values(Result.PDETradingFees).every((fee) => Number.isInteger(fee))).toBe(true);
    expect(Object.keys(Result.PDETradingFees).length).toBeGreaterThan(20);
  });

  test('has the states of a day, each with the time of its block', async () => {
    const hours = [0, 9, 23];
    const states = await Promise.all(hours.map((hour) => stateAt(sandbox.nodeUrl, start - hour * 90)));
    expect(states.map(({ Result }) => Result.BeaconTimeStamp)).toEqual(hours.map((hour) => noon - hour * 3_600));
  });

  test('has the exact reserves of the pools', async () => {
    const text = await rpcText(sandbox.nodeUrl, 'getpdestate', [{ BeaconHeight: start }]);
    for (const pool of sandbox.chain.pools) {
      const held = sandbox.chain.reserves(pool);
      expect(text).toContain(
        [
          `\t\t\t"pdepool-${start}-${pool.id}": {`,
          `\t\t\t\t"Token1IDStr": "${pool.token1.id}",`,
          `\t\t\t\t"Token1PoolValue": ${held?.reserve1},`,
          `\t\t\t\t"Token2IDStr": "${pool.token2.id}",`,
          `\t\t\t\t"Token2PoolValue": ${held?.reserve2}`,
          '\t\t\t}',
        ].join('\n'),
      );
    }
    expect(text).toMatch(/"Token2PoolValue": 1\d{19}\n/);
    expect(Object.keys(JSON.parse(text).Result.PDEPoolPairs)).toHaveLength(sandbox.chain.pools.length);
  });

  test('has contributions that wait for their other half', async () => {
    const states = await Promise.all([0, 60, 120, 180, 240, 300].map((back) => stateAt(sandbox.nodeUrl, start - back)));
    const waiting = states.flatMap(({ Result }) => Object.values(Result.WaitingPDEContributions));
    expect(waiting.length).toBeGreaterThan(0);
    for (const contribution of waiting) {
      expect(contribution).toEqual({
        ContributorAddressStr: expect.stringMatching(/^12[1-9A-Za-z]{101}$/),
        TokenIDStr: expect.stringMatching(hash),
        Amount: expect.any(Number),
        TxReqID: expect.stringMatching(hash),
      });
    }
  });

  test('has unchanged past states while blocks are created and replaced', async () => {
    await using other = await fixedSandbox({ history: 50 });
    const heights = [start, start - 1, start - 50];
    const read = () =>
      Promise.all(heights.map((height) => rpcText(other.nodeUrl, 'getpdestate', [{ BeaconHeight: height }])));
    const before = await read();
    other.advance(40);
    other.replaceTip();
    expect(await read()).toEqual(before);
    expect((await beaconState(other.nodeUrl)).BeaconHeight).toBe(start + 40);
  });

  test.each([
    ['a height in the future', start + 1, '1.640001e+06'],
    ['a far height', 99_999_999, '9.9999999e+07'],
    ['height zero', 0, '0'],
    ['a negative height', -1, '-1'],
  ])('has no state of %s', async (_, height, printed) => {
    const { Result, Error: error } = await stateAt(sandbox.nodeUrl, height);
    expect(Result).toBe(null);
    expect(error).toMatchObject({ Code: -8000, Message: 'Get pde state error' });
    expect(error?.StackTrace.split('\n').slice(0, 2)).toEqual([
      `-8000: Can't found ConsensusStateRootHash of beacon height ${printed}, error Beacon, Block Height ${height} not found`,
      'Get pde state error',
    ]);
    expect(error?.StackTrace).toContain('/node/rpcserver/stub.go:98');
  });

  test('reports for a pruned height that the root of its state is missing, or the record of the root', async () => {
    const causeOf = async (height: number) =>
      (await stateAt(sandbox.nodeUrl, height)).Error?.StackTrace.split('\n').slice(0, 2);
    expect(await causeOf(12_345)).toEqual([
      "-8000: Can't found ConsensusStateRootHash of beacon height 12345, error leveldb: not found",
      'Get pde state error',
    ]);
    expect(await causeOf(12_346)).toEqual([
      expect.stringMatching(/^-8000: missing trie node [0-9a-f]{64} \(path \)$/),
      'Get pde state error',
    ]);
  });

  test.each([
    ['no params', [], 'Payload data is invalid'],
    ['params that are no list', { BeaconHeight: 1 }, 'Payload data is invalid'],
    ['a bare height', [1], 'Payload data is invalid'],
    ['no height', [{}], 'Beacon height is invalid'],
    ['a height in quotes', [{ BeaconHeight: '1' }], 'Beacon height is invalid'],
    ['half a height', [{ BeaconHeight: 1.5 }], 'Beacon height is invalid'],
  ])('refuses %s', async (_, params, cause) => {
    const { Result, Error: error } = await rpc(sandbox.nodeUrl, 'getpdestate', params);
    expect(Result).toBe(null);
    expect(error).toMatchObject({ Code: -1003, Message: 'Invalid parameters' });
    expect(error?.StackTrace.startsWith(`-1003: ${cause}\nInvalid parameters\n`)).toBe(true);
  });

  test('has the oldest retained height, and none below', async () => {
    await using other = await fixedSandbox({ history: 10, retention: 15 });
    other.advance(30);
    const { oldestHeight } = other.chain;
    expect(oldestHeight).toBe(start + 30 - 14);
    expect((await stateAt(other.nodeUrl, oldestHeight)).Error).toBe(null);
    expect((await stateAt(other.nodeUrl, oldestHeight - 1)).Error?.Code).toBe(-8000);
  });
});
