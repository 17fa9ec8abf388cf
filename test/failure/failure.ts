import { expect } from 'vitest';
import type { Upstream, UpstreamErrorCode } from '../../src/errors.ts';
import type { HttpFault } from '../../src/sandbox/faults.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Config } from '../../src/settings/settings.ts';
import { startGatewayForTest, type TestGateway } from '../support/gateway.ts';

/** One way for an upstream to fail as a whole, and what comes of it. */
export type Failure = {
  /** What befalls every call; `refused` where the host does not even listen. */
  readonly fault: HttpFault | 'refused';
  /** What clients, `service`, the metrics and the log call it. */
  readonly code: UpstreamErrorCode;
  /** The message behind the name of the upstream. */
  readonly says: string;
  /** The host is left alone until it may be well again. What answers, if wrongly, is asked at the usual pace. */
  readonly isLeftAlone: boolean;
  /** Befalls only this upstream, or means something else at the other. */
  readonly only?: Upstream;
  readonly config?: Partial<Config>;
};

/** For failures that show only when the time is over: short, and long enough for a healthy answer on a busy machine. */
export const SHORT_TIMEOUT_MS = 500;

/** Everything is read so often, and left alone so shortly, that no test waits for it. */
const OFTEN_MS = 10;

/** A gateway with a port, and where that is. */
export type OpenGateway = TestGateway & { readonly origin: string };

/** Starts a gateway with what the failure needs to show; `before` is done before it first asks its upstreams. */
export async function open({ config = {} }: Failure, before: (sandbox: Sandbox) => Promise<void> = async () => {}) {
  const gateway = await startGatewayForTest({
    config: {
      headPollMs: OFTEN_MS,
      marketPollMs: OFTEN_MS,
      orderBookTtlMs: OFTEN_MS,
      upstreamMaxPauseMs: OFTEN_MS,
      ...config,
    },
    before,
    sandbox: { history: 60 },
  });
  const { origin } = new URL(await gateway.app.listen(0, '127.0.0.1'));
  return { ...gateway, origin };
}

/** Has the failure befall an upstream. */
export async function breakDown(sandbox: Sandbox, upstream: Upstream, { fault }: Failure): Promise<void> {
  const host = hostOf(sandbox, upstream);
  if (fault === 'refused') await host.stop();
  else host.faults.set(fault);
}

/** Waits until the gateway has noticed: what it reads from then on, it reads in vain. */
export async function untilNoticed({ app }: TestGateway, upstream: Upstream): Promise<void> {
  const { head, market } = app.service.sources;
  const followers = upstream === 'NODE' ? [head] : [market.pairs, market.tickers];
  await expect.poll(() => followers.every((follower) => follower.isFailing())).toBe(true);
}

/** Ends the failure. */
export async function heal({ sandbox, clock }: TestGateway, upstream: Upstream, { fault }: Failure): Promise<void> {
  const host = hostOf(sandbox, upstream);
  if (fault === 'refused') await host.start();
  else host.faults.clear();
  // What an order book was last read with, a failure too, serves everyone until then.
  clock.now += OFTEN_MS;
}

/** The host that plays an upstream. */
export function hostOf({ node, marketData }: Sandbox, upstream: Upstream) {
  return upstream === 'NODE' ? node : marketData;
}
