import { describe, expect, test } from 'vitest';
import { UpstreamRpcError, UpstreamTimeoutError } from '../../../src/errors.ts';
import { canBeUnknownMethod, readResult } from '../../../src/upstream/node/envelope.ts';
import {
  isBeforeV3,
  isUnknownVerbosity,
  retryUntilThere,
  whyStateIsMissing,
} from '../../../src/upstream/node/state-not-found.ts';
import { blockNotFound, statePruned, stateUnreadable } from '../../live/chain/heads.ts';
import { readFixture } from '../fixture.ts';

const rootNotFound = "-8000: Can't found ConsensusStateRootHash of beacon height";

test.each([
  [`${rootNotFound} 9.9999999e+07, error Beacon, Block Height 99999999 not found`, 'future'],
  [`${rootNotFound} 0, error Beacon, Block Height 0 not found`, 'future'],
  [`${rootNotFound} 12345, error leveldb: not found`, 'pruned'],
  ['-8000: missing trie node 6f1c2d (path )', 'pruned'],
  ['-8000: leveldb: not found', 'pruned'],
  [`${rootNotFound} 12345`, 'pruned'],
  [`${rootNotFound} 12345, error open /data/000123.ldb: too many open files`, undefined],
  ['-8000: open /data/000123.ldb: too many open files', undefined],
  ['-8000: read /data/000123.ldb: input/output error', undefined],
  ['-8000: ', undefined],
  [undefined, undefined],
])('error -8000 because of %j: the state is missing because it is %s', (because, why) => {
  expect(whyStateIsMissing(new UpstreamRpcError(-8000, { because }))).toBe(why);
});

test('no other error means that a state is missing', () => {
  const because = '-1003: missing trie node 6f1c2d (path )';
  expect(whyStateIsMissing(new UpstreamRpcError(-1003, { because }))).toBe(undefined);
  expect(whyStateIsMissing(new UpstreamRpcError(undefined, { because }))).toBe(undefined);
  expect(whyStateIsMissing(new UpstreamTimeoutError('NODE', 5, { because }))).toBe(undefined);
});

test.each<[string, readonly [why: string | undefined, isBefore: boolean, isOld: boolean]]>([
  ['before-break-point', [undefined, true, false]],
  ['future-height', ['future', false, false]],
  ['pruned-height', ['pruned', false, false]],
  ['verbosity', [undefined, false, true]],
  ['unknown-pool', [undefined, false, false]],
  ['filter-key', [undefined, false, false]],
  ['filter-type', [undefined, false, false]],
  ['missing-filter', [undefined, false, false]],
])('the recorded error of V3 %s says why', async (name, why) => {
  const read = async () => readResult(JSON.parse(readFixture(`node/v3/error.${name}`)), 1);
  const error = await read().catch((reason) => reason);
  expect([whyStateIsMissing(error), isBeforeV3(error), isUnknownVerbosity(error)]).toEqual(why);
  expect(canBeUnknownMethod(error)).toBe(false);
});

describe('calls for the state of a height that the chain has reached', () => {
  /** A node that fails with these errors, and then has the state. */
  async function callsUntilThere(errors: Error[], budget: number) {
    let calls = 0;
    const ask = async () => {
      calls += 1;
      const error = errors.shift();
      if (error !== undefined) throw error;
    };
    let left = budget;
    const errorBudget = {
      has: () => left > 0,
      spend() {
        left -= 1;
      },
    };
    const isThere = await retryUntilThere(ask, errorBudget).then(
      () => true,
      () => false,
    );
    return { calls, isThere, isUsedUp: !errorBudget.has() };
  }
  const late = (times: number) => Array.from({ length: times }, () => blockNotFound(7));

  test('are retried if the height is in the future for the node', async () => {
    expect(await callsUntilThere(late(2), 10)).toEqual({ calls: 3, isThere: true, isUsedUp: false });
  });

  test('are at most five', async () => {
    expect(await callsUntilThere(late(9), 10)).toEqual({ calls: 5, isThere: false, isUsedUp: false });
  });

  test('are no more than the error budget allows', async () => {
    expect(await callsUntilThere(late(9), 2)).toEqual({ calls: 2, isThere: false, isUsedUp: true });
    expect(await callsUntilThere(late(1), 0)).toEqual({ calls: 1, isThere: false, isUsedUp: true });
  });

  test.each([statePruned(), stateUnreadable()])('are not retried after another error: %o', async (error) => {
    expect(await callsUntilThere([error], 1)).toEqual({ calls: 1, isThere: false, isUsedUp: true });
  });
});
