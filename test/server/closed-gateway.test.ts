import { expect, test } from 'vitest';
import { untilCollected } from '../support/garbage.ts';
import { startGateway } from '../support/gateway.ts';

/** Starts a gateway, uses it, and closes it. */
async function useGateway(): Promise<WeakRef<object>> {
  const { app, ask, subscribe, close } = await startGateway();
  expect((await ask('{ beaconHeight pairs { id } tickers { id } }')).errors).toBeUndefined();
  expect((await subscribe('subscription { head { beaconHeight } }').next()).value?.errors).toBeUndefined();
  await close();
  return new WeakRef(app.service);
}

test('nothing of a closed gateway stays in memory', async () => {
  await untilCollected([await useGateway()]);
});
