import { describe, expect, test } from 'vitest';
import type { ExchangeState } from '../../../src/domain/exchange.ts';
import { poolPairId } from '../../../src/domain/pool-pair.ts';
import { parseJson } from '../../../src/upstream/json.ts';
import { readResult } from '../../../src/upstream/node/envelope.ts';
import { ShapeError, type WireObject } from '../../../src/upstream/wire.ts';
import { exchangeStateOf, listPools } from '../../domain/pools.ts';
import { readFixture } from '../fixture.ts';
import { print } from '../mutations.ts';
import { readState } from './states.ts';

const PRV = '0000000000000000000000000000000000000000000000000000000000000004';
const BTC = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
const ETH = 'ffd8d42dc40a8d166ea4848baf8b5f6e912ad79875f4373070b59392b1756c8f';
const KEY = `pdepool-835380-${PRV}-${BTC}`;
const pool = { Token1IDStr: PRV, Token1PoolValue: 1, Token2IDStr: BTC, Token2PoolValue: 2 };

const poolPairsOf = (state: ExchangeState) => listPools(state, {}, 'ID_ASC');
/** Reads the state in a response with this result. */
const readExchangeState = (result: WireObject, height: number) =>
  readState(print({ Id: 1, Result: result, Error: null }), height);

const recorded = () => readResult(parseJson(readFixture('node/getpdestate')), 1);

describe('the contents of a state', () => {
  test('are the pools of the recorded response, to the last unit, in order of their ids', () => {
    const prvBtc = { token1Id: PRV, token2Id: BTC, reserve1: 1_906_314_094_145_580n, reserve2: 171_442_164_981n };
    const btcEth = { token1Id: BTC, token2Id: ETH, reserve1: 0n, reserve2: 2n ** 64n - 1n };
    const pools = [prvBtc, btcEth].map((each) => ({ beaconHeight: 835_380, ...each }));
    const state = readExchangeState(recorded(), 835_380);
    expect(state).toEqual(exchangeStateOf(835_380, pools, 1_606_982_670_000));
    expect(poolPairsOf(state)).toEqual(pools.map((each) => ({ ...each, time: state.time })));
  });

  test('can be an exchange without pools', () => {
    expect(readExchangeState({ PDEPoolPairs: {} }, 9)).toEqual(exchangeStateOf(9, []));
  });

  test('do not depend on other sections, whatever they contain', () => {
    const state = readExchangeState(recorded(), 835_380);
    const odd = { WaitingPDEContributions: [], PDEShares: 'none', PDETradingFees: null, BeaconTimeStamp: -1, More: {} };
    expect(readExchangeState({ ...recorded(), ...odd }, 835_380)).toEqual({ ...state, time: -1_000 });
    const poolsOnly = readExchangeState({ PDEPoolPairs: recorded()['PDEPoolPairs'] }, 835_380);
    expect(poolsOnly).toEqual({ ...state, time: undefined });
  });

  test('do not depend on other fields of a pool', () => {
    const state = readExchangeState({ PDEPoolPairs: { [KEY]: { ...pool, Fee: 'odd' } } }, 835_380);
    expect(poolPairsOf(state).map(poolPairId)).toEqual([`${PRV}-${BTC}`]);
  });
});

describe('a state with a wrong shape', () => {
  const pools = '$.Result.PDEPoolPairs';
  const keys = `expected keys with the height of the state and the token ids of the pool at ${pools}`;

  test.each<[string, WireObject, string]>([
    ['no pools', {}, `expected an object at ${pools}`],
    ['pools that are null', { PDEPoolPairs: null }, `expected an object at ${pools}`],
    ['pools in a list', { PDEPoolPairs: [] }, `expected an object at ${pools}`],
    ['a pool that is null', { PDEPoolPairs: { [KEY]: null } }, `expected an object at ${pools}[…]`],
    [
      'a reserve that is a text',
      { PDEPoolPairs: { [KEY]: { ...pool, Token1PoolValue: '1' } } },
      `expected an integer at ${pools}[…].Token1PoolValue`,
    ],
    [
      'a reserve below 0',
      { PDEPoolPairs: { [KEY]: { ...pool, Token2PoolValue: -1 } } },
      `expected an integer at ${pools}[…].Token2PoolValue`,
    ],
    [
      'a reserve above 64 bits',
      { PDEPoolPairs: { [KEY]: { ...pool, Token2PoolValue: 2n ** 64n } } },
      `expected an integer at ${pools}[…].Token2PoolValue`,
    ],
    [
      'a token that is none',
      { PDEPoolPairs: { [KEY]: { ...pool, Token1IDStr: 'PRV' } } },
      `expected 64 hexadecimal characters at ${pools}[…].Token1IDStr`,
    ],
    ['keys of another height', { PDEPoolPairs: { [KEY.replace('835380', '835381')]: pool } }, keys],
    ['keys without a height', { PDEPoolPairs: { [`pdepool-${PRV}-${BTC}`]: pool } }, keys],
    ['keys of other tokens', { PDEPoolPairs: { [KEY.replace(BTC, ETH)]: pool } }, keys],
    ['tokens in another order than in the key', { PDEPoolPairs: { [`pdepool-835380-${BTC}-${PRV}`]: pool } }, keys],
  ])('%s', (_, result, message) => {
    const read = () => readExchangeState(result, 835_380);
    expect(read).toThrow(ShapeError);
    expect(read).toThrow(message);
  });
});
