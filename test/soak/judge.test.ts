import { describe, expect, test } from 'vitest';
import { createJudge, type Question } from '../../soak/judge.ts';
import { createOutages } from '../../soak/outages.ts';

const QUESTION: Question = { kind: 'a question', query: '{ beaconHeight }' };

function errorOf(code: string, upstream?: 'NODE' | 'MARKET_DATA') {
  return {
    data: { field: null },
    errors: [{ message: code, path: ['field'], extensions: { code, ...(upstream && { upstream }) } }],
  };
}

function judged(
  answer: ReturnType<typeof errorOf>,
  trouble: (outages: ReturnType<typeof createOutages>) => void = () => {},
  question = QUESTION,
) {
  const outages = createOutages(2);
  const judge = createJudge(outages, () => {});
  trouble(outages);
  const now = performance.now();
  judge.answer('someone', question, answer, { sentAt: now, answeredAt: now, floor: 0 });
  return Object.fromEntries(judge.counts.wrong);
}

describe('which errors are wrong', () => {
  test('one of an upstream that nothing is wrong with', () => {
    expect(judged(errorOf('UPSTREAM_TIMEOUT', 'MARKET_DATA'))).toEqual({ 'an error without a cause': 1 });
    expect(
      judged(errorOf('UPSTREAM_TIMEOUT', 'MARKET_DATA'), ({ begin }) => void begin('market data', 'hang')),
    ).toEqual({});
  });

  test('one of the node while another node could be asked', () => {
    expect(judged(errorOf('UPSTREAM_TIMEOUT', 'NODE'), ({ begin }) => void begin(0, 'hang'))).toEqual({
      'an error without a cause': 1,
    });
    const bothHang = (outages: ReturnType<typeof createOutages>) =>
      [0, 1].forEach((node) => void outages.begin(node, 'hang'));
    expect(judged(errorOf('UPSTREAM_TIMEOUT', 'NODE'), bothHang)).toEqual({});
  });

  test('several of one answer together, with what was asked', () => {
    const judge = createJudge(createOutages(2), () => {});
    const errors = ['UPSTREAM_TIMEOUT', 'UPSTREAM_BAD_STATUS'].flatMap((code) => errorOf(code, 'NODE').errors);
    const asked = { ...QUESTION, variables: { at: 7 } };
    judge.answer('someone', asked, { data: { beaconHeight: 9 }, errors }, { sentAt: 1, answeredAt: 5, floor: 0 });
    expect(Object.fromEntries(judge.counts.wrong)).toEqual({ 'an error without a cause': 1 });
    const [, told = ''] = judge.findings[0]?.split(/\n(.*)/s) ?? [];
    expect(JSON.parse(told)).toMatchObject({
      ms: 4,
      errors,
      query: QUESTION.query,
      variables: { at: 7 },
      beaconHeight: 9,
    });
  });

  test('an internal one, whatever is wrong with the upstreams', () => {
    const everything = (outages: ReturnType<typeof createOutages>) => {
      for (const host of [0, 1, 'market data'] as const) outages.begin(host, 'stopped');
    };
    expect(judged(errorOf('INTERNAL_SERVER_ERROR'), everything)).toEqual({ 'an error without a cause': 1 });
  });

  test('that too much is asked for, unless the upstream is slow or whoever asks asks for very much', () => {
    const busy = errorOf('UPSTREAM_BUSY', 'NODE');
    expect(judged(busy)).toEqual({ 'an error without a cause': 1 });
    expect(judged(busy, ({ begin }) => void begin('market data', 'delay'))).toEqual({ 'an error without a cause': 1 });
    expect(judged(busy, ({ begin }) => void begin(1, 'delay'))).toEqual({});
    expect(judged(busy, undefined, { ...QUESTION, mayFailWith: ['UPSTREAM_BUSY'] })).toEqual({});
  });

  test('any other than the one owed, unless only an upstream knows that it is owed, and is not well', () => {
    const timeout = errorOf('UPSTREAM_TIMEOUT', 'NODE');
    const bothHang = (outages: ReturnType<typeof createOutages>) =>
      [0, 1].forEach((node) => void outages.begin(node, 'hang'));
    const future: Question = { ...QUESTION, fails: 'HEIGHT_NOT_AVAILABLE' };
    const pruned: Question = { ...future, knownBy: 'NODE' };
    expect(judged(errorOf('HEIGHT_NOT_AVAILABLE'), undefined, future)).toEqual({});
    expect(judged(timeout, bothHang, future)).toEqual({ 'not HEIGHT_NOT_AVAILABLE': 1 });
    expect(judged(timeout, undefined, pruned)).toEqual({ 'not HEIGHT_NOT_AVAILABLE': 1 });
    expect(judged(timeout, ({ begin }) => void begin(1, 'hang'), pruned)).toEqual({});
    expect(judged(errorOf('INTERNAL_SERVER_ERROR'), bothHang, pruned)).toEqual({ 'not HEIGHT_NOT_AVAILABLE': 1 });
  });
});
