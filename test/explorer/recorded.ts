import type { SandboxHostsOptions } from '../../src/sandbox/sandbox.ts';
import { chainHeights } from '../history/of-chain.ts';
import { createStoreModel, type StoreModel } from '../history/store-model.ts';
import type { TestGatewayOptions } from '../support/gateway.ts';

/** A gateway whose history has all final heights of its sandbox, by default 200 blocks. */
export function recorded({
  history = 200,
  ...sandbox
}: SandboxHostsOptions = {}): TestGatewayOptions & { readonly store: StoreModel } {
  const store = createStoreModel();
  return {
    store,
    sandbox: { history, ...sandbox },
    config: { historyBackfillHours: 0 },
    before(started) {
      const { height } = started.chain.tip;
      return store.record(chainHeights(started, height - history + 1, height - 3));
    },
  };
}
