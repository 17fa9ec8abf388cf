import { describe, expect, test } from 'vitest';
import { type ExchangeState, poolPairAt } from '../../src/domain/exchange.ts';
import { changedPlaces, type PriceSelection, selectPlaces } from '../../src/domain/price-selection.ts';
import { exchangeStateOf, poolOf, tokenId } from './pools.ts';

const [a, b, c, d] = [tokenId('a'), tokenId('b'), tokenId('c'), tokenId('d')];
const ab = poolOf(1n, 1n, { token1Id: a, token2Id: b });
const ac = poolOf(2n, 2n, { token1Id: a, token2Id: c });
const bc = poolOf(3n, 3n, { token1Id: b, token2Id: c });
const cd = poolOf(4n, 4n, { token1Id: c, token2Id: d });
const state = exchangeStateOf(1_000, [cd, bc, ac, ab]);

/** The selected pools of a state; only those that changed, if there is an earlier state. */
function select(selection: PriceSelection, of: ExchangeState, before?: ExchangeState) {
  const places = selectPlaces(of, selection);
  return (before === undefined ? places : changedPlaces(of, places, before)).map((place) => poolPairAt(of, place));
}

describe('selected pools', () => {
  test.each<[string, PriceSelection, object[]]>([
    ['nothing named: of all pools, in order of their ids', {}, [ab, ac, bc, cd]],
    ['of a pool named in the chain’s order', { poolPairs: [{ token1Id: b, token2Id: c }] }, [bc]],
    ['of a pool named the other way round', { poolPairs: [{ token1Id: c, token2Id: b }] }, [bc]],
    ['of a pool that is not there: none', { poolPairs: [{ token1Id: a, token2Id: d }] }, []],
    ['of pools that hold a token', { tokenIds: [c] }, [ac, bc, cd]],
    ['of several tokens, each pool once', { tokenIds: [a, b] }, [ab, ac, bc]],
    ['of both: one or the other', { poolPairs: [{ token1Id: d, token2Id: c }], tokenIds: [a] }, [ab, ac, cd]],
    [
      'of a pool named twice: once',
      {
        poolPairs: [
          { token1Id: a, token2Id: b },
          { token1Id: b, token2Id: a },
        ],
      },
      [ab],
    ],
    ['of no pool and no token: none', { poolPairs: [], tokenIds: [] }, []],
  ])('%s', (_, selection, pools) => {
    expect(select(selection, state)).toEqual(pools);
  });
});

describe('changed pools', () => {
  const next = exchangeStateOf(
    1_001,
    [ab, { ...ac, reserve1: 9n }, { ...bc, reserve2: 9n }].map((pool) => ({ ...pool, beaconHeight: 1_001 })),
  );
  const [, acNext, bcNext] = select({}, next);

  test('have other reserves than before, on either side', () => {
    expect(select({}, next, state)).toEqual([acNext, bcNext]);
  });

  test('include a new pool', () => {
    expect(select({}, state, next)).toEqual([ac, bc, cd]);
  });

  test('are among the selected', () => {
    expect(select({ tokenIds: [a] }, next, state)).toEqual([acNext]);
    expect(select({ poolPairs: [{ token1Id: a, token2Id: b }] }, next, state)).toEqual([]);
  });

  test('do not include a pool that is only at another place', () => {
    const [before, now] = [exchangeStateOf(1_000, [ab, cd]), exchangeStateOf(1_001, [ab, ac, cd])];
    expect(select({}, now, before)).toEqual([{ ...ac, beaconHeight: 1_001 }]);
    expect(select({}, before, now)).toEqual([]);
  });
});
