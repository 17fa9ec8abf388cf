import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createJudge, type GraphqlResponse, type Operation } from '../../soak/judge.ts';
import { createOutages, QUEUE_WAIT_MS } from '../../soak/outages.ts';
import { commonRows } from '../../soak/report.ts';
import { requireChecks } from '../../soak/required-checks.ts';

const OPERATION: Operation = { kind: 'an operation', query: '{ field }' };

function errorOf(code: string, upstream?: 'NODE' | 'MARKET_DATA') {
  return {
    data: { field: null },
    errors: [{ message: code, path: ['field'], extensions: { code, ...(upstream && { upstream }) } }],
  };
}

function judged(
  answer: ReturnType<typeof errorOf>,
  inject: (outages: ReturnType<typeof createOutages>) => void = () => {},
  operation = OPERATION,
  { minHeight = 1_000, waited = 0 } = {},
) {
  const outages = createOutages(2);
  const judge = createJudge(outages, () => {});
  inject(outages);
  const now = performance.now();
  judge.judgeResponse('someone', operation, answer, { sentAt: now - waited, answeredAt: now, minHeight });
  return Object.fromEntries(judge.counts.wrong);
}

/** What is counted after one response, while the node hangs. */
function countsOf(operation: Operation, answer: GraphqlResponse) {
  const outages = createOutages(1);
  outages.begin(0, 'hang');
  const judge = createJudge(outages, () => {});
  judge.judgeResponse('someone', operation, answer, { sentAt: 0, answeredAt: performance.now(), minHeight: 1_000 });
  return { wrong: [...judge.counts.wrong.keys()], compared: judge.checked() };
}

describe('a response', () => {
  const ofFault = (...path: string[]) => ({
    message: 'down',
    path,
    extensions: { code: 'UPSTREAM_TIMEOUT', upstream: 'NODE' as const },
  });
  const operation: Operation = {
    kind: 'a pool',
    query: 'query ($isAsked: Boolean!) { beaconHeight pool { price } other: pool @include(if: $isAsked) { price } }',
    variables: { isAsked: false },
    check: ({ pool }) => (pool === undefined || (pool as { price?: number }).price === 1 ? undefined : 'another price'),
  };

  test('is wrong without a root field that the operation requests', () => {
    expect(countsOf(operation, { data: { beaconHeight: 1, pool: { price: 1 } } })).toEqual({ wrong: [], compared: 1 });
    expect(countsOf(operation, { data: { beaconHeight: 1 } })).toEqual({
      wrong: ['a response without pool'],
      compared: 0,
    });
    const asked = { ...operation, variables: { isAsked: true } };
    expect(countsOf(asked, { data: {} }).wrong).toEqual(['a response without beaconHeight,pool,other']);
    expect(countsOf({ kind: 'by REST', query: 'GET tickers' }, { data: { tickers: [] } }).wrong).toEqual([]);
  });

  test('is not counted as compared if all of it failed', () => {
    const data = { beaconHeight: null, pool: null };
    const errors = [ofFault('beaconHeight'), ofFault('pool')];
    expect(countsOf(operation, { data, errors })).toEqual({ wrong: [], compared: 0 });
    expect(countsOf(operation, { data: { ...data, beaconHeight: 1 }, errors: errors.slice(1) }).compared).toBe(1);
  });

  test('is compared without the field that failed, not without its root field, if its check accepts that', () => {
    const answer = { data: { beaconHeight: 1, pool: { price: 2, volume: null } }, errors: [ofFault('pool', 'volume')] };
    expect(countsOf({ ...operation, checksParts: true }, answer).wrong).toEqual(['a wrong response']);
    expect(countsOf(operation, answer).wrong).toEqual([]);
    const whole = { data: { beaconHeight: 1, pool: null }, errors: [ofFault('pool', 'price')] };
    expect(countsOf({ ...operation, checksParts: true }, whole).wrong).toEqual([]);
  });

  test('of each kind that was requested often must have been compared', () => {
    const judge = createJudge(createOutages(1), () => {});
    const times = { sentAt: 0, answeredAt: 1, minHeight: 0 };
    for (let n = 0; n < 200; n++) {
      judge.judgeUpdate('someone', 'an update', {}, undefined);
      judge.judgeResponse('someone', { kind: 'empty', query: '{ pool }' }, { data: {} }, times);
    }
    const run = { minutes: 1, exchange: 'v1', replicas: 1 } as const;
    requireChecks(judge, run);
    expect([...judge.counts.wrong.keys()]).toEqual(['a response without pool', 'too little was checked']);
    expect(judge.findings.at(-1)).toBe('too little was checked: no response of empty');
    const result = { seed: 1, blocks: { made: 0, replaced: 0 }, servedHeights: 0, judge, faults: new Map() };
    const rows = [0.5, 1].map((minutes) => new Map(commonRows({ ...result, minutes }, true)));
    expect(rows.map((row) => row.get('of kinds of which none was checked'))).toEqual(['200 empty', '200 empty']);
    expect(rows.map((row) => row.get('result'))).toEqual([expect.stringMatching(/^passed, but/), 'passed']);
  });
});

describe('an error is wrong', () => {
  test('if its upstream has no fault', () => {
    expect(judged(errorOf('UPSTREAM_TIMEOUT', 'MARKET_DATA'))).toEqual({ 'an error without a cause': 1 });
    expect(
      judged(errorOf('UPSTREAM_TIMEOUT', 'MARKET_DATA'), ({ begin }) => void begin('market data', 'hang')),
    ).toEqual({});
  });

  test('if it is of the node while another node can be read', () => {
    expect(judged(errorOf('UPSTREAM_TIMEOUT', 'NODE'), ({ begin }) => void begin(0, 'hang'))).toEqual({
      'an error without a cause': 1,
    });
    const bothHang = (outages: ReturnType<typeof createOutages>) =>
      [0, 1].forEach((node) => void outages.begin(node, 'hang'));
    expect(judged(errorOf('UPSTREAM_TIMEOUT', 'NODE'), bothHang)).toEqual({});
  });

  test('but not if blocks were replaced, so that only the node with the fault could have the block of the head', () => {
    const oneHangs = (outages: ReturnType<typeof createOutages>) => void outages.begin(0, 'hang');
    const replaced = (outages: ReturnType<typeof createOutages>) => outages.replaceTip(100);
    const both = (outages: ReturnType<typeof createOutages>) => {
      oneHangs(outages);
      replaced(outages);
    };
    expect(judged(errorOf('UPSTREAM_UNREACHABLE', 'NODE'), replaced)).toEqual({ 'an error without a cause': 1 });
    expect(judged(errorOf('UPSTREAM_UNREACHABLE', 'NODE'), both)).toEqual({});
  });

  test('if it is of a height far below a replaced block, which another node can be read for', () => {
    const timeout = errorOf('UPSTREAM_TIMEOUT', 'NODE');
    const limited = errorOf('UPSTREAM_BUSY', 'NODE');
    const message = 'The node responded with too many errors in the last minutes.';
    const tooMany = { ...limited, errors: limited.errors.map((error) => ({ ...error, message })) };
    const fails = ({ begin }: ReturnType<typeof createOutages>) => void begin(0, 'hang');
    const limits = ({ begin }: ReturnType<typeof createOutages>) => void begin(1, 'state-missing');
    const forks = ({ fork }: ReturnType<typeof createOutages>) => void fork(100);
    const replaces = ({ replaceTip }: ReturnType<typeof createOutages>) => replaceTip(100);
    for (const [answer, fault, replacement] of [
      [timeout, fails, forks],
      [timeout, fails, replaces],
      [tooMany, limits, forks],
      [tooMany, limits, replaces],
    ] as const) {
      const both = (outages: ReturnType<typeof createOutages>) => {
        fault(outages);
        replacement(outages);
      };
      expect(judged(answer, both, { ...OPERATION, heights: { field: 99, other: 30 } })).toEqual({});
      expect(judged(answer, both, { ...OPERATION, heights: { field: 30, other: 99 } })).toEqual({
        'an error without a cause': 1,
      });
    }
  });

  test('but not if it is about a height of a branch that only one URL has, or the others are limited', () => {
    const branchOf = (height: number) => {
      const { errors, ...rest } = errorOf('UPSTREAM_BAD_SHAPE', 'NODE');
      const message = `The node can be on another branch of the chain at beacon height ${height}, so its data of this height is not used.`;
      return { ...rest, errors: errors.map((error) => ({ ...error, message })) };
    };
    expect(judged(branchOf(97))).toEqual({ 'an error without a cause': 1 });
    expect(judged(branchOf(97), ({ fork }) => void fork(100))).toEqual({});
    expect(judged(branchOf(96), ({ fork }) => void fork(100))).toEqual({ 'an error without a cause': 1 });
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const otherIsLimited = ({ fork, begin }: ReturnType<typeof createOutages>) => {
      begin(1, 'state-missing')();
      vi.advanceTimersByTime(60_000);
      fork(100);
    };
    expect(judged(branchOf(96), otherIsLimited)).toEqual({});
  });

  test('once per response, with the operation', () => {
    const judge = createJudge(createOutages(2), () => {});
    const errors = ['UPSTREAM_TIMEOUT', 'UPSTREAM_BAD_STATUS'].flatMap((code) => errorOf(code, 'NODE').errors);
    const operation = { ...OPERATION, variables: { at: 7 } };
    judge.judgeResponse(
      'client',
      operation,
      { data: { field: null, beaconHeight: 9 }, errors },
      { sentAt: 1, answeredAt: 5, minHeight: 0 },
    );
    expect(Object.fromEntries(judge.counts.wrong)).toEqual({ 'an error without a cause': 1 });
    const [, details = ''] = judge.findings[0]?.split(/\n(.*)/s) ?? [];
    expect(JSON.parse(details)).toMatchObject({
      ms: 4,
      errors,
      query: OPERATION.query,
      variables: { at: 7 },
      beaconHeight: 9,
    });
  });

  test('if it is internal, even if all upstreams have faults', () => {
    const everything = (outages: ReturnType<typeof createOutages>) => {
      for (const host of [0, 1, 'market data'] as const) outages.begin(host, 'stopped');
    };
    expect(judged(errorOf('INTERNAL_SERVER_ERROR'), everything)).toEqual({ 'an error without a cause': 1 });
  });

  test('if a served height is said to be in the future, unless a client of a fleet names no minimum height', () => {
    const message = 'Beacon height 1001 is in the future. The newest height is 1000.';
    const { errors, ...rest } = errorOf('HEIGHT_NOT_AVAILABLE');
    const answer = { ...rest, errors: errors.map((error) => ({ ...error, message })) };
    expect(judged(answer)).toEqual({ 'an error without a cause': 1 });
    expect(judged(answer, undefined, OPERATION, { minHeight: 0 })).toEqual({});
    expect(judged(errorOf('HEIGHT_NOT_AVAILABLE'), undefined, OPERATION, { minHeight: 0 })).toEqual({
      'an error without a cause': 1,
    });
  });

  test('if the upstream is busy, unless it has a fault or the operation requests very much', () => {
    const busy = errorOf('UPSTREAM_BUSY', 'NODE');
    expect(judged(busy)).toEqual({ 'an error without a cause': 1 });
    expect(judged(busy, ({ begin }) => void begin('market data', 'delay'))).toEqual({ 'an error without a cause': 1 });
    expect(judged(busy, ({ begin }) => void begin(1, 'delay'))).toEqual({});
    const drips =
      (...nodes: readonly number[]) =>
      ({ beginOfTrades }: ReturnType<typeof createOutages>) =>
        nodes.forEach((node) => void beginOfTrades(node, 'drip'));
    expect(judged(busy, drips(1))).toEqual({ 'an error without a cause': 1 });
    expect(judged(busy, drips(0, 1))).toEqual({});
    expect(judged(busy, undefined, { ...OPERATION, mayFailWith: ['UPSTREAM_BUSY'] })).toEqual({});
  });

  test('if the nodes are busy for a request that waited less than the queue allows', () => {
    const busy = errorOf('UPSTREAM_BUSY', 'NODE');
    const pruned: Operation = { ...OPERATION, fails: 'HEIGHT_NOT_AVAILABLE', knownBy: 'NODE' };
    const [early, late] = [{ waited: QUEUE_WAIT_MS - 1 }, { waited: QUEUE_WAIT_MS }];
    expect(judged(busy, undefined, OPERATION, early)).toEqual({ 'an error without a cause': 1 });
    expect(judged(busy, undefined, OPERATION, late)).toEqual({});
    expect(judged(busy, undefined, pruned, early)).toEqual({ 'not HEIGHT_NOT_AVAILABLE': 1 });
    expect(judged(busy, undefined, pruned, late)).toEqual({});
    expect(judged(errorOf('UPSTREAM_BUSY', 'MARKET_DATA'), undefined, OPERATION, late)).toEqual({
      'an error without a cause': 1,
    });
  });

  test('if it is of the newest height while another node is called less, but not if it is of an earlier height', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const failsWhileOtherIsLimited = ({ begin }: ReturnType<typeof createOutages>) => {
      begin(1, 'state-error')();
      vi.advanceTimersByTime(60_000);
      begin(0, 'hang');
    };
    const timeout = errorOf('UPSTREAM_TIMEOUT', 'NODE');
    expect(judged(timeout, failsWhileOtherIsLimited)).toEqual({ 'an error without a cause': 1 });
    expect(judged(timeout, failsWhileOtherIsLimited, { ...OPERATION, heights: { field: 99 } })).toEqual({});
    const onlyFails = ({ begin }: ReturnType<typeof createOutages>) => void begin(0, 'hang');
    expect(judged(timeout, onlyFails, { ...OPERATION, heights: { field: 99 } })).toEqual({
      'an error without a cause': 1,
    });
  });

  test('if the errors of a node are limited, unless each node responds with many, cannot be read or has a fork', () => {
    const message = 'The node responded with too many errors in the last minutes.';
    const { data, errors } = errorOf('UPSTREAM_BUSY', 'NODE');
    const limited = { data, errors: errors.map((error) => ({ ...error, message })) };
    const fails = ({ begin }: ReturnType<typeof createOutages>) => void begin(1, 'state-missing');
    const forked = ({ fork }: ReturnType<typeof createOutages>) => void fork(100);
    const both = (outages: ReturnType<typeof createOutages>) =>
      [fails, forked].forEach((inject) => void inject(outages));
    expect(judged(limited, fails)).toEqual({ 'an error without a cause': 1 });
    expect(judged(limited, forked)).toEqual({ 'an error without a cause': 1 });
    expect(judged(limited, both)).toEqual({});
    // The other nodes may not have shown the new tip yet.
    const replaced = ({ replaceTip }: ReturnType<typeof createOutages>) => replaceTip(100);
    expect(judged(limited, replaced)).toEqual({ 'an error without a cause': 1 });
    const failsWhileReplaced = (outages: ReturnType<typeof createOutages>) =>
      [fails, replaced].forEach((inject) => void inject(outages));
    expect(judged(limited, failsWhileReplaced)).toEqual({});
  });

  test('if it is not the expected one, unless the upstream that determines it has a fault', () => {
    const timeout = errorOf('UPSTREAM_TIMEOUT', 'NODE');
    const bothHang = (outages: ReturnType<typeof createOutages>) =>
      [0, 1].forEach((node) => void outages.begin(node, 'hang'));
    const future: Operation = { ...OPERATION, fails: 'HEIGHT_NOT_AVAILABLE' };
    const pruned: Operation = { ...future, knownBy: 'NODE' };
    expect(judged(errorOf('HEIGHT_NOT_AVAILABLE'), undefined, future)).toEqual({});
    expect(judged(timeout, bothHang, future)).toEqual({ 'not HEIGHT_NOT_AVAILABLE': 1 });
    expect(judged(timeout, undefined, pruned)).toEqual({ 'not HEIGHT_NOT_AVAILABLE': 1 });
    expect(judged(timeout, ({ begin }) => void begin(1, 'hang'), pruned)).toEqual({});
    expect(judged(errorOf('INTERNAL_SERVER_ERROR'), bothHang, pruned)).toEqual({ 'not HEIGHT_NOT_AVAILABLE': 1 });
  });
});
