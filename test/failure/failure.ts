import { expect } from 'vitest';
import type { UpstreamErrorCode } from '../../src/domain/error-codes.ts';
import type { Upstream } from '../../src/errors.ts';
import type { HttpFault } from '../../src/sandbox/faults.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import type { Config } from '../../src/settings/settings.ts';
import { startGatewayForTest, type TestGateway } from '../support/gateway.ts';

/** One way for an upstream to fail completely, and what follows. */
export type Failure = {
  /** The fault of every call; `refused` if the host does not listen. */
  readonly fault: HttpFault | 'refused';
  /** The code in answers, `service`, the metrics and the log. */
  readonly code: UpstreamErrorCode;
  /** The message after the name of the upstream. */
  readonly message: string;
  /** Whether the circuit opens. It does not if the host responds, even wrongly: then it is called at the usual interval. */
  readonly opensCircuit: boolean;
  /** The only upstream that can fail in this way. */
  readonly only?: Upstream;
  /** The moment that is tested. Another failure with the same code is tested at the other one. */
  readonly when: 'from the start' | 'later';
  readonly config?: Partial<Config>;
};

/** The timeout for failures that show only after it: short, and long enough for a good response on a busy machine. */
const SHORT_TIMEOUT_MS = 1_000;

/** What clients and operators see of a host that does not respond in time. */
export const TIMEOUT = {
  code: 'UPSTREAM_TIMEOUT',
  message: `did not respond within ${SHORT_TIMEOUT_MS} ms`,
  opensCircuit: true,
  // The other upstream is read all the time that a timeout takes.
  config: { upstreamTimeoutMs: SHORT_TIMEOUT_MS, headPollMs: 200, marketPollMs: 200 },
} as const;

/** Everything is read so often, and pauses are so short, that no test waits for it. */
const OFTEN_MS = 25;

/** A gateway with a port, and where that is. */
export type OpenGateway = TestGateway & { readonly origin: string };

/** Starts a gateway with the settings of the failure. `before` runs before it first calls its upstreams. */
export async function open(
  { config = {} }: Failure,
  before: (sandbox: SandboxHosts) => Promise<void> = async () => {},
) {
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

/** Makes an upstream fail. */
export async function startOutage(sandbox: SandboxHosts, upstream: Upstream, { fault }: Failure): Promise<void> {
  const host = hostOf(sandbox, upstream);
  if (fault === 'refused') await host.stop();
  else host.faults.set(fault);
}

/** Waits until the gateway has noticed: everything that it reads from then on fails. */
export async function untilNoticed({ app }: TestGateway, upstream: Upstream): Promise<void> {
  const { head, market } = app.service.sources;
  const followers = upstream === 'NODE' ? [head] : [market.pairs, market.tickers];
  await expect.poll(() => followers.every((follower) => follower.isFailing())).toBe(true);
}

/** Ends the failure. */
export async function endOutage(
  { sandbox, clock }: TestGateway,
  upstream: Upstream,
  { fault }: Failure,
): Promise<void> {
  const host = hostOf(sandbox, upstream);
  if (fault === 'refused') await host.start();
  else host.faults.clear();
  // Until then, everyone gets the last response for an order book, also if it is a failure.
  clock.now += OFTEN_MS;
}

/** The host that simulates an upstream. */
export function hostOf({ node, marketData }: SandboxHosts, upstream: Upstream) {
  return upstream === 'NODE' ? node : marketData;
}
