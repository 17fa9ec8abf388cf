import { startLoadGenerator } from '../load-generator.ts';
import { orderOf } from '../order.ts';
import { type QuerySchedule, scheduleOf } from '../query-benchmark.ts';
import { notesOf, type RoundResult, runRepeated } from '../query-rounds.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { BARE_HTTP, GATEWAY, startHttpTargets } from '../targets.ts';
import { startTestbed } from '../testbed.ts';

const SCHEDULE: QuerySchedule = { sizes: [10_000], starts: 2, rounds: 3, seconds: 5, warmUpSeconds: 4 };

const PATH = '/api/v1/public/market-data/tickers';

/** The tickers of the REST API again and again, as a listing site and its mirrors read them. */
export const rest: Row = { name: 'rest', comparesCheckouts: false, run };

async function run(context: RowContext): Promise<readonly Result[]> {
  const schedule = scheduleOf(context, SCHEDULE);
  const result = createResult({
    title: 'The tickers of the REST API again',
    about:
      'A GET of `/tickers`: about one ticker for each pool, with the price and liquidity of its pool. In each round, the node pushes one block: the gateway reads its state and writes the document again. The bare server sends the bytes of the first response of the gateway.',
    sizeUnit: 'pools',
    sizes: schedule.sizes,
    samplesPerStart: schedule.rounds,
    unit: 'responses/s',
    better: 'more',
    goals: [{ target: GATEWAY, baseline: { target: BARE_HTTP, by: 'ratio' }, bound: 'at least', value: 0.5 }],
  });
  const rounds: RoundResult[] = [];
  for (const pools of schedule.sizes) {
    for (let start = 0; start < schedule.starts; start++) {
      rounds.push(...(await runStart({ context, schedule, result, pools, start })));
      context.log(`${PATH}, ${pools} pools: start ${start + 1} of ${schedule.starts} done`);
    }
  }
  for (const note of notesOf(rounds, context.quick)) result.note(note);
  return [result];
}

type Start = {
  readonly context: RowContext;
  readonly schedule: QuerySchedule;
  readonly result: OpenResult;
  readonly pools: number;
  readonly start: number;
};

async function runStart({ context, schedule, result, pools, start }: Start): Promise<readonly RoundResult[]> {
  const { rounds, seconds, warmUpSeconds } = schedule;
  const all: RoundResult[] = [];
  // Without pushed blocks, a gateway with the default settings would see a block up to a second later.
  await using testbed = await startTestbed(context.checkouts, { pools }, ({ pushUrl }) => ({
    FULLNODE_WS_URL: pushUrl,
  }));
  await testbed.sandbox.call('until subscribed');
  const targets = await startHttpTargets(testbed, (name) => name === BARE_HTTP);
  await using load = await startLoadGenerator();
  await targets.get(BARE_HTTP)?.server.call('send', await readTickers(testbed.gateway.url));
  const requests = [Buffer.from(`GET ${PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n\r\n`)];

  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    for (const [name, target] of orderOf([...targets], start + Math.max(0, round))) {
      const options = { ...target, testbed, load, requests, seconds: round < 0 ? warmUpSeconds : seconds };
      const measured = await testbed.alone(target.server, () => runRepeated(options));
      if (round < 0) continue;
      result.add(name, pools, measured.perSecond);
      all.push(measured);
    }
  }
  return all;
}

/** The document, once it has the prices of pools. */
async function readTickers(url: string): Promise<string> {
  const response = await fetch(new URL(PATH, url), { signal: AbortSignal.timeout(60_000) });
  const text = await response.text();
  if (response.status !== 200 || !text.includes('"pool_price"')) throw new Error(`no tickers: ${text.slice(0, 500)}`);
  return text;
}
