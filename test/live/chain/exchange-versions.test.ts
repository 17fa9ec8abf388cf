import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ExchangeVersion } from '../../../src/domain/pool-pair.ts';
import { createExchangeVersions } from '../../../src/live/chain/exchange-versions.ts';
import { stateOfV3 as anyOfV3 } from '../../domain/v3-pools.ts';
import { exchangeOf } from './heads.ts';

const PROBE_MS = 60_000;

const failure = new Error('no response');

/** The versions, with a clock that a test moves. */
function versionsOf(fixed?: ExchangeVersion) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const changes: ExchangeVersion[] = [];
  const versions = createExchangeVersions({ fixed, probeMs: PROBE_MS, onChange: (version) => changes.push(version) });
  return { ...versions, changes };
}

/** The tip of a node that responds so, in turn and the last for ever, and remembers how often it may be called. */
function tipOf(...answers: (boolean | Error | Promise<boolean>)[]) {
  const asked: number[] = [];
  return {
    asked,
    at: (height: number) => ({
      height,
      async hasV3(maxCalls: number) {
        asked.push(maxCalls);
        const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? false;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    }),
  };
}

/** A state of V3 at that height. */
function stateOfV3(beaconHeight: number) {
  return { ...anyOfV3([]), beaconHeight };
}

/** What is under way has come to its end. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('which version trades', () => {
  test.each<[string, (boolean | Error)[], ExchangeVersion]>([
    ['a node has V3', [true], 'V3'],
    ['one of several has', [false, failure, true], 'V3'],
    ['none has', [false, false], 'V1'],
    ['none has, as far as they respond', [failure, false], 'V1'],
  ])('%s: it is known after the first look', async (_, answers, version) => {
    const { lookForV3, changes } = versionsOf();
    expect(changes).toEqual([]);
    await lookForV3(answers.map((answer) => tipOf(answer).at(5)));
    expect(changes).toEqual([version]);
  });

  test('a node that has V3 is enough: one that does not respond is not waited for', async () => {
    const { lookForV3, changes } = versionsOf();
    await lookForV3([tipOf(new Promise(() => {})).at(5), tipOf(true).at(5)]);
    expect(changes.at(-1)).toBe('V3');
  });

  test('none responds: that is an error, and the next look is at once', async () => {
    const { lookForV3, changes } = versionsOf();
    const node = tipOf(failure, failure, false);
    for (let looks = 0; looks < 2; looks++) await expect(lookForV3([node.at(5)])).rejects.toBe(failure);
    await lookForV3([node.at(5)]);
    expect([changes, node.asked]).toEqual([['V1'], [3, 3, 3]]);
  });

  test('it turns to V3, and never back', async () => {
    const { lookForV3, changes, observe } = versionsOf();
    const node = tipOf(false, true);
    await lookForV3([node.at(5)]);
    await lookForV3([node.at(6)]);
    await settled();
    observe(exchangeOf(6));
    for (let height = 7; height < 20; height++) await lookForV3([tipOf(false).at(height)]);
    expect([changes, node.asked]).toEqual([
      ['V1', 'V3'],
      [3, 1],
    ]);
  });

  test.each<[ExchangeVersion, ExchangeVersion]>([
    ['V1', 'V3'],
    ['V3', 'V1'],
  ])('%s is fixed: nobody is asked, and a state of %s changes nothing', async (fixed, other) => {
    const { lookForV3, versionAt, changes, observe } = versionsOf(fixed);
    const node = tipOf(other === 'V3');
    await lookForV3([node.at(5)]);
    observe(other === 'V3' ? stateOfV3(5) : exchangeOf(5));
    expect([versionAt(5), changes, node.asked]).toEqual([fixed === 'V1' ? fixed : undefined, [], []]);
  });

  test('a state that another gateway has read tells', () => {
    const { observe, changes } = versionsOf();
    observe(exchangeOf(5));
    expect(changes).toEqual(['V1']);
    observe(stateOfV3(6));
    expect(changes).toEqual(['V1', 'V3']);
  });
});

describe('how often nodes are asked for V3', () => {
  test('once at each of the first ten heights, and then once in each interval', async () => {
    const { lookForV3 } = versionsOf();
    const node = tipOf(false);
    const look = async (height: number) => {
      await lookForV3([node.at(height)]);
      await settled();
    };
    for (let height = 1; height <= 15; height++) for (let polls = 0; polls < 3; polls++) await look(height);
    expect(node.asked).toEqual([3, ...Array(9).fill(1)]);
    for (let minutes = 0; minutes < 3; minutes++) {
      vi.advanceTimersByTime(PROBE_MS);
      await look(20 + minutes);
      await look(30 + minutes);
    }
    expect(node.asked).toHaveLength(13);
  });

  test('a look never delays a head once a version is known, and there is one at a time', async () => {
    const { lookForV3, changes } = versionsOf();
    const late = Promise.withResolvers<boolean>();
    const node = tipOf(false, late.promise);
    await lookForV3([node.at(1)]);
    for (let height = 2; height < 5; height++) await lookForV3([node.at(height)]);
    expect([changes, node.asked.length]).toEqual([['V1'], 2]);
    late.resolve(true);
    await settled();
    expect(changes.at(-1)).toBe('V3');
  });

  test('a look that fails once a version is known changes nothing', async () => {
    const { lookForV3, changes } = versionsOf();
    const node = tipOf(false, failure);
    for (let height = 1; height < 5; height++) {
      await lookForV3([node.at(height)]);
      await settled();
    }
    expect([changes, node.asked.length]).toEqual([['V1'], 4]);
  });
});

describe('the version at a height', () => {
  test('is V1 at every height until V3 was seen', () => {
    const { versionAt, observe } = versionsOf();
    observe(exchangeOf(9));
    expect([1, 9, 100].map(versionAt)).toEqual(['V1', 'V1', 'V1']);
  });

  test('is known above a state of V3, and below a height that is before its start', () => {
    const { versionAt, observe, noteBeforeV3 } = versionsOf();
    observe(stateOfV3(100));
    expect([1, 99, 100, 101].map(versionAt)).toEqual([undefined, undefined, 'V3', 'V3']);
    observe(stateOfV3(60));
    noteBeforeV3(40);
    noteBeforeV3(30);
    observe(stateOfV3(101));
    expect([40, 41, 59, 60].map(versionAt)).toEqual(['V1', undefined, undefined, 'V3']);
  });
});
