import { createServer, type ServerResponse } from 'node:http';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { collect } from '../support/events.ts';
import { startReplica, untilAlone, untilConnected } from '../support/fleet.ts';
import { startSandbox } from '../support/gateway.ts';
import { freePort } from '../support/ports.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

/** A slow way to the market-data host: it holds back the responses of the host, until a test releases them. */
async function slowWayTo({ marketDataUrl }: Sandbox) {
  let held: (() => void)[] = [];
  let holds = false;
  const port = await freePort();
  const forward = async (path: string, response: ServerResponse) => {
    const { statusCode, headers, body } = await request(new URL(path.slice(1), marketDataUrl), { reset: true });
    const text = await body.text();
    if (holds) await new Promise<void>((resolve) => held.push(resolve));
    response.writeHead(statusCode, { 'content-type': String(headers['content-type']) }).end(text);
  };
  const server = createServer(({ url = '' }, response) => {
    // A request can be on its way when the sandbox ends.
    forward(url, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    hold() {
      holds = true;
    },
    held: () => held.length,
    /** Sends the responses that are held back, and holds back none from now on. */
    release() {
      holds = false;
      for (const send of held) send();
      held = [];
    },
  };
}

describe.skipIf(!hasRedis)('the lists of a fleet', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  test('never go back at a replica that was alone, also if the other has read an older one that comes later', async () => {
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    const way = await slowWayTo(sandbox);
    const start = (marketDataUrl: URL) =>
      startReplica(redis, { prefix: 'lists', of: sandbox, config: { marketPollMs: 20, marketDataUrl } });
    const other = await start(way.url);
    const alone = await start(new URL(sandbox.marketDataUrl));

    const updates = alone.subscribe('subscription { tickers { lastPrice baseVolume } }');
    const received = collect(updates, ({ tickers }) => JSON.stringify(tickers));
    await until(() => received.length > 0);

    alone.link.cut();
    await untilAlone(alone);
    // The other replica has asked for pairs and tickers, and gets them later.
    way.hold();
    await until(() => way.held() >= 2);
    const before = received.length;
    sandbox.advance(3);
    await until(() => received.length > before);
    await other.untilHeight(sandbox.chain.tip.height);
    alone.link.restore();
    await untilConnected(alone);
    const whileAlone = received.length;
    way.release();
    sandbox.advance(3);
    await until(async () => {
      const { data } = await other.ask('{ tickers { lastPrice baseVolume } }');
      return JSON.stringify(data?.tickers) === received.at(-1) && received.length > whileAlone;
    });
    expect(received).toEqual([...new Set(received)]);
  });
});
