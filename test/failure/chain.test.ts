import { describe, expect, test } from 'vitest';
import { keepEvents } from '../support/events.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';

const HEADS = 'subscription { head { beaconHeight previousHeight hash } }';
const STATUS = '{ beaconHeight service { head { stale } upstreams { healthy lastErrorCode } } }';
const HEALTHY = { healthy: true, lastErrorCode: null };

const open = (options: TestGatewayOptions = {}) => startGatewayForTest({ sandbox: { history: 60 }, ...options });

describe('a chain that is not yet final', () => {
  test('a height that goes back is not served, and is not logged', async () => {
    const { ask, subscribe, advance, sandbox, lines } = await open();
    const { height } = sandbox.chain.tip;
    const heads = keepEvents(subscribe(HEADS));
    await expect.poll(() => heads.answers.length).toBe(1);
    await advance(2);
    sandbox.node.faults.set({ kind: 'lag', blocks: 2 });
    const looks = sandbox.node.calls('getblockchaininfo');
    await expect.poll(() => sandbox.node.calls('getblockchaininfo')).toBeGreaterThan(looks + 3);
    expect((await ask(STATUS)).data).toEqual({
      beaconHeight: height + 2,
      service: { head: { stale: false }, upstreams: [HEALTHY, HEALTHY] },
    });

    sandbox.node.faults.clear();
    await advance();
    await expect.poll(() => heads.answers.length).toBe(3);
    expect(heads.answers).toMatchObject(
      [height, height + 2, height + 3].map((beaconHeight) => ({ data: { head: { beaconHeight } } })),
    );
    expect(lines).toEqual([]);
  });

  test('a tip that no longer moves is stale after five times the usual interval, and fresh with the next block', async () => {
    const { ask, sandbox, clock, untilHeight, lines } = await open();
    const { height } = sandbox.chain.tip;
    await untilHeight(height);
    const stale = async () => (await ask(STATUS)).data.service.head.stale;
    clock.now += 5 * 40_000;
    expect(await stale()).toBe(false);
    clock.now += 1;
    expect((await ask(STATUS)).data).toEqual({
      beaconHeight: height,
      service: { head: { stale: true }, upstreams: [HEALTHY, HEALTHY] },
    });

    sandbox.advance();
    await untilHeight(height + 1);
    expect([await stale(), lines]).toEqual([false, []]);
  });

  test('a block that replaces the tip is read completely and published at the same height', async () => {
    const { ask, subscribe, sandbox, lines } = await open();
    const { height, hash } = sandbox.chain.tip;
    const heads = keepEvents(subscribe(HEADS));
    await expect.poll(() => heads.answers.length).toBe(1);
    sandbox.replaceTip();
    await expect.poll(() => heads.answers.length).toBe(2);
    expect(heads.answers).toEqual([
      { data: { head: { beaconHeight: height, previousHeight: null, hash } } },
      { data: { head: { beaconHeight: height, previousHeight: height, hash: sandbox.chain.tip.hash } } },
    ]);
    expect((await ask(STATUS)).data.service.head.stale).toBe(false);
    expect(lines).toEqual([]);
  });

  test('the state of a block below a replaced tip is read again, a final one is not', async () => {
    const { ask, untilHeight, sandbox, subscribe } = await open();
    const { height } = sandbox.chain.tip;
    const query = 'query ($at: BeaconHeight!) { poolPairs(first: 0, at: $at) { totalCount } }';
    const callsFor = async (at: number) => {
      const calls = sandbox.node.calls('getpdestate');
      await ask(query, { at });
      return sandbox.node.calls('getpdestate') - calls;
    };
    await untilHeight(height);
    expect([await callsFor(height - 1), await callsFor(height - 3)]).toEqual([1, 1]);
    expect([await callsFor(height - 1), await callsFor(height - 3)]).toEqual([0, 0]);
    const heads = keepEvents(subscribe(HEADS));
    await expect.poll(() => heads.answers.length).toBe(1);
    sandbox.replaceTip();
    await expect.poll(() => heads.answers.length).toBe(2);
    expect([await callsFor(height - 1), await callsFor(height - 3)]).toEqual([1, 0]);
  });
});

describe('a node that answers -8000: it has no such state', () => {
  test('at the tip for a moment: it is called again shortly, and nothing is logged', async () => {
    const { ask, advance, sandbox, lines } = await open();
    await ask('{ beaconHeight }');
    sandbox.node.faults.set({ kind: 'state-missing', times: 2 });
    const calls = sandbox.node.calls('getpdestate');
    await advance();
    expect(sandbox.node.calls('getpdestate')).toBe(calls + 3);
    expect((await ask(STATUS)).data.service.head.stale).toBe(false);
    expect(lines).toEqual([]);
  });

  test('at the tip from the start: its fields are null with that error, the others are complete, until it recovers', async () => {
    const { ask, subscribe, sandbox, lines } = await open({
      before: ({ node }) => void node.faults.set({ kind: 'state-missing' }),
    });
    const query = '{ beaconHeight pairs(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId } }';
    const { data, errors } = await ask(query);
    expect(data).toEqual({ beaconHeight: null, pairs: [{ tickerId: 'pBTC_PRV' }] });
    const error = {
      message: 'The node responded with error -8000.',
      extensions: { code: 'UPSTREAM_RPC_ERROR', upstream: 'NODE' },
    };
    expect(errors).toEqual([expect.objectContaining({ path: ['beaconHeight'], ...error })]);
    const first = (await subscribe(HEADS).next()).value;
    expect(first?.errors).toEqual([expect.objectContaining(error)]);
    expect(lines).toEqual([broken(sandbox.nodeUrl)]);

    sandbox.node.faults.clear();
    await expect.poll(async () => (await ask(query)).data.beaconHeight).toBe(sandbox.chain.tip.height);
    expect(lines).toEqual([broken(sandbox.nodeUrl), HEALED]);
  });

  test('at a new tip for long: the last height is served as stale, earlier ones are read, until it recovers', async () => {
    const { ask, subscribe, untilHeight, sandbox, lines } = await open();
    const { height } = sandbox.chain.tip;
    const heads = keepEvents(subscribe(HEADS));
    await expect.poll(() => heads.answers.length).toBe(1);
    sandbox.node.faults.set({ kind: 'state-missing' });
    sandbox.advance(2);
    await expect.poll(async () => (await ask(STATUS)).data.service.head.stale).toBe(true);
    const earlier = 'query ($at: BeaconHeight!) { beaconHeight poolPairs(at: $at) { totalCount } }';
    expect(await ask(earlier, { at: height - 7 })).toEqual({
      data: { beaconHeight: height, poolPairs: { totalCount: 54 } },
    });
    expect(lines).toEqual([broken(sandbox.nodeUrl)]);

    sandbox.node.faults.clear();
    await untilHeight(height + 2);
    await expect.poll(() => heads.answers.length).toBe(2);
    expect(heads.answers).toMatchObject([
      { data: { head: { beaconHeight: height } } },
      { data: { head: { beaconHeight: height + 2, previousHeight: height } } },
    ]);
    expect(lines).toEqual([broken(sandbox.nodeUrl), HEALED]);
  });

  test('at an old height: the node is healthy, and the error contains the newest height', async () => {
    const { ask, sandbox, lines } = await open();
    const { height } = sandbox.chain.tip;
    const { data, errors } = await ask(`{ beaconHeight poolPairs(at: ${height - 1_000}) { totalCount } }`);
    expect(data).toEqual({ beaconHeight: height, poolPairs: null });
    expect(errors).toEqual([
      expect.objectContaining({
        message: `The node no longer has the state at beacon height ${height - 1_000}.`,
        path: ['poolPairs'],
        extensions: { code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: height },
      }),
    ]);
    expect((await ask(STATUS)).data.service).toMatchObject({ head: { stale: false }, upstreams: [HEALTHY, HEALTHY] });
    expect(lines).toEqual([]);
  });
});

function broken(nodeUrl: string) {
  const { host } = new URL(nodeUrl);
  const what = { level: WARN, msg: 'an upstream cannot be read', upstream: 'NODE', host };
  return expect.objectContaining({ ...what, code: 'UPSTREAM_RPC_ERROR', because: expect.stringMatching(/^-8000: /) });
}

const HEALED = { level: INFO, msg: 'an upstream can be read again', upstream: 'NODE' };
