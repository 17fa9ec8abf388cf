import { expect, test } from 'vitest';
import { chainHeights } from '../history/of-chain.ts';
import { createStoreModel } from '../history/store-model.ts';
import { openRest } from '../support/rest.ts';

test('tickers have no high and low while older heights are read: they would be those of a shorter time', async () => {
  const store = createStoreModel();
  const { ask, read } = await openRest({
    store,
    config: { historyBackfillHours: 24, historyBackfillStep: 1 },
    sandbox: { history: 2_000 },
    before(started) {
      const { height } = started.chain.tip;
      // To read the others takes longer than any test.
      started.node.faults.set({ kind: 'delay', ms: 500, on: 'getpdestate' });
      return store.record(chainHeights(started, height - 199, height - 3));
    },
  });
  const stateOf = async () => {
    const { data } = await ask('{ history { isBackfilling } pair(tickerId: "pBTC_PRV") { change { high low } } }');
    return [data.history.isBackfilling, data.pair.change !== null];
  };
  await expect.poll(stateOf).toEqual([true, true]);
  const { tickers } = await read('tickers');
  expect(tickers.filter((ticker: object) => 'high' in ticker || 'low' in ticker)).toEqual([]);
  expect(await stateOf()).toEqual([true, true]);
});
