import { expect, onTestFinished, test, vi } from 'vitest';
import { readRest } from '../../soak/clients/rest-reader.ts';
import type { SoakContext } from '../../soak/context.ts';
import { createHttpClient } from '../../soak/http-client.ts';
import { createJudge } from '../../soak/judge.ts';
import { createOutages } from '../../soak/outages.ts';
import { serviceQuery } from '../../soak/queries/service.ts';
import { requireChecks } from '../../soak/required-checks.ts';
import { routeToOne } from '../../soak/routes.ts';
import { openWebSocket } from '../../soak/websocket-client.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { startSilentGateway } from './silent-gateway.ts';
import { startContext } from './soak-context.ts';

const CLIENTS: Readonly<Record<string, (context: SoakContext) => Promise<unknown>>> = {
  async HTTP(context) {
    const client = createHttpClient(context, 'client 1');
    await client.execute(serviceQuery(context));
    await client.close();
  },
  async 'a websocket'(context) {
    await (await openWebSocket(context, 'client 1'))?.execute(serviceQuery(context));
  },
  REST: (context) => readRest(context, 'client 1', createRandom('client')),
};

test.each(Object.keys(CLIENTS))(
  'a request over %s without a response is reported, also when the run is over',
  async (name) => {
    const { context } = await startContext();
    const { url, requested } = await startSilentGateway();
    const over = new AbortController();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const sent = CLIENTS[name]?.({ ...context, url, routes: routeToOne(url), signal: over.signal });
    await requested;
    over.abort();
    vi.advanceTimersByTime(60_000);
    await sent;
    expect(Object.fromEntries(context.judge.counts.wrong)).toEqual({ 'no response': 1 });
  },
);

test('a run of a minute that has checked nothing fails, and a longer one of V3 and one gateway without a candle that is exact', () => {
  const judged = (minutes: number, exchange: 'v1' | 'v3', checked: number, event?: string, replicas = 1) => {
    const judge = createJudge(createOutages(1), () => {});
    for (let times = 0; times < checked; times++) judge.judgeUpdate('client', 'head', {}, undefined);
    if (event !== undefined) judge.count(event);
    requireChecks(judge, { minutes, exchange, replicas });
    return judge.counts.wrong.get('too little was checked') ?? 0;
  };
  expect([judged(0.5, 'v3', 0), judged(1, 'v3', 99), judged(1, 'v3', 100), judged(5, 'v1', 100)]).toEqual([0, 1, 0, 0]);
  expect([judged(5, 'v3', 100), judged(5, 'v3', 100, 'candles with exact volumes')]).toEqual([1, 0]);
  expect([judged(5, 'v3', 99, undefined, 3), judged(5, 'v3', 100, undefined, 3)]).toEqual([1, 0]);
});

test('while no node can be read, a head that is not stale is wrong', async () => {
  const { context, ask, untilReady } = await startContext({ isSandbox: false });
  await untilReady();
  const { check, query } = serviceQuery(context);
  const { data } = await ask(query);
  const at = performance.now();
  const judged = (stale: boolean, healthy: boolean, sentAt: number) => {
    const [node, ...others] = data.service.upstreams;
    const service = { ...data.service, head: { stale }, upstreams: [{ ...node, healthy }, ...others] };
    return check?.({ service }, { sentAt, answeredAt: sentAt, minHeight: 0 });
  };
  expect(judged(false, true, at)).toBeUndefined();
  context.outages.begin(0, 'stopped');
  expect(judged(false, true, at + 1_000)).toBeUndefined();
  expect(judged(false, false, at + 10_000)).toBe('no node can be read, but the head is not stale');
  expect(judged(true, false, at + 10_000)).toBeUndefined();
});
