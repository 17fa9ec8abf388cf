import { expect } from 'vitest';
import type { UpstreamErrorCode } from '../../src/domain/error-codes.ts';
import type { Upstream } from '../../src/errors.ts';
import type { TestGateway } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';
import { sample, sumOf } from '../support/metrics.ts';
import { type Failure, hostOf, type OpenGateway } from './failure.ts';

/** The age of the last good responses when they are checked. */
export const AGE_MS = 5_000;

/** How often the gateway is asked until it reports what is expected: some failures take seconds. */
const POLLED = { interval: 100 };

/** What `/ready` and `service` report while an upstream fails. */
type View = { readonly reason: { readonly code: string; readonly message: string }; readonly service: object };

/** When nothing was ever read from it. */
export const NOTHING_READ: Record<Upstream, View> = {
  NODE: {
    reason: { code: 'HEAD_NOT_READ', message: 'no beacon height has been read yet' },
    service: { head: null, marketData: { ageMs: 0, stale: false } },
  },
  MARKET_DATA: {
    reason: { code: 'MARKET_DATA_NOT_READ', message: 'pairs and tickers have not been read yet' },
    service: { head: { ageMs: 0, stale: false }, marketData: null },
  },
};

/** When it was read {@link AGE_MS} ago. */
export const STALE: Record<Upstream, View> = {
  NODE: {
    reason: { code: 'NODE_UNREADABLE', message: 'the node cannot be read' },
    service: { head: { ageMs: AGE_MS, stale: true }, marketData: { ageMs: 0, stale: false } },
  },
  MARKET_DATA: {
    reason: { code: 'MARKET_DATA_STALE', message: 'pairs and tickers are stale' },
    service: { head: { ageMs: 0, stale: false }, marketData: { ageMs: AGE_MS, stale: true } },
  },
};

/** Expects what operators see while one upstream fails: metrics, `service`, `/ready` and one line in the log. */
export async function expectFailing(
  gateway: OpenGateway,
  upstream: Upstream,
  failure: Failure,
  view: View,
): Promise<void> {
  const { sandbox, lines, origin } = gateway;
  const { code, message, opensCircuit } = failure;
  const cause = `${upstream === 'NODE' ? 'The node' : 'The market-data host'} ${message}`;
  const reason = { ...view.reason, message: expect.stringContaining(`${view.reason.message}: ${cause}`) };
  const { host } = new URL(hostOf(sandbox, upstream).url);
  const failed = async () => sumOf(await metricsOf(origin), 'pdex_upstream_calls_total', { upstream, outcome: code });
  await expect.poll(failed, POLLED).toBeGreaterThanOrEqual(3);
  await expect
    .poll(() => serviceOf(gateway), POLLED)
    .toEqual({ ...view.service, upstreams: healthWhile(upstream, code) });
  const version = view === NOTHING_READ.NODE ? {} : { exchangeVersion: 'V1' };
  await expect
    .poll(() => readiness(origin), POLLED)
    .toEqual([503, { status: 'not ready', reasons: [reason], ...version, sandbox: true }]);

  await expect
    .poll(() => figures(gateway, upstream), POLLED)
    .toEqual({
      headStale: Number(upstream === 'NODE'),
      healthy: 0,
      circuitOpen: Number(opensCircuit),
    });
  expect(lines).toEqual([
    expect.objectContaining({ level: WARN, msg: 'an upstream cannot be read', upstream, code, host }),
  ]);
}

/** Expects what they see when both upstreams respond again. */
export async function expectHealth(gateway: OpenGateway, upstream: Upstream): Promise<void> {
  const { lines, origin } = gateway;
  await expect
    .poll(() => readiness(origin), POLLED)
    .toEqual([200, { status: 'ready', exchangeVersion: 'V1', sandbox: true }]);
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[1]).toEqual({ level: INFO, msg: 'an upstream can be read again', upstream });
  const { upstreams, ...readings } = await serviceOf(gateway);
  expect(readings).toMatchObject({ head: { stale: false }, marketData: { stale: false } });
  expect(upstreams).toMatchObject([{ healthy: true }, { healthy: true }]);

  expect(await figures(gateway, upstream)).toEqual({ headStale: 0, healthy: 1, circuitOpen: 0 });
}

function healthWhile(failing: Upstream, code: UpstreamErrorCode): object[] {
  return (['NODE', 'MARKET_DATA'] as const).map((upstream) => {
    const healthy = upstream !== failing;
    return { upstream, healthy, lastErrorCode: healthy ? null : code };
  });
}

async function serviceOf({ ask }: Pick<TestGateway, 'ask'>) {
  const query =
    '{ service { head { ageMs stale } marketData { ageMs stale } upstreams { upstream healthy lastErrorCode } } }';
  return (await ask(query)).data.service;
}

async function readiness(origin: string): Promise<[number, unknown]> {
  const response = await fetch(new URL('/ready', origin));
  return [response.status, await response.json()];
}

async function figures({ origin, sandbox }: OpenGateway, upstream: Upstream) {
  const metrics = await metricsOf(origin);
  const { host } = new URL(hostOf(sandbox, upstream).url);
  return {
    headStale: sample(metrics, 'pdex_head_stale'),
    healthy: sample(metrics, `pdex_upstream_healthy{upstream="${upstream}"}`),
    circuitOpen: sample(metrics, `pdex_upstream_circuit_open{upstream="${upstream}",host="${host}"}`),
  };
}

async function metricsOf(origin: string): Promise<string> {
  return (await fetch(new URL('/metrics', origin))).text();
}
