import { describe, expect, test } from 'vitest';
import { chainHeights } from '../history/of-chain.ts';
import { CANDLE, shownCandle } from '../history/shown-candles.ts';
import { createStoreModel, expectedCandles } from '../history/store-model.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

const QUERY = `subscription {
  candles(token1Id: "${BTC}", token2Id: "${PRV}", interval: ONE_MINUTE, decimals1: 0, decimals2: 0) { ${CANDLE} }
}`;

type StreamedEvent = { readonly id: string | undefined; readonly data: unknown };

/** A gateway that records from the tip on, which has a block each 40 s. */
async function open() {
  const gateway = await startGatewayForTest({ store: createStoreModel(), config: { historyBackfillHours: 0 } });
  const { sandbox } = gateway;
  const first = sandbox.chain.tip.height;
  await gateway.untilHeight(first);

  /** The candles that are expected at the tip, the oldest first. */
  const candlesNow = () =>
    expectedCandles(
      chainHeights(sandbox, first),
      [PRV, BTC].sort().join('-'),
      'ONE_MINUTE',
      sandbox.chain.tip.height,
    ).map((candle) => shownCandle(candle, [0, 0]));
  const events = (candles: readonly unknown[]) => candles.map((candle) => ({ data: { candles: candle } }));
  return {
    ...gateway,
    candleNow: () => events(candlesNow().slice(-1)),
    closedNow: () => events(candlesNow().filter(({ isClosed }) => isClosed)),
    async advanceEach(blocks: number) {
      for (let made = 0; made < blocks; made++) await gateway.advance();
    },
  };
}

/** The events of a response, one by one, as an `EventSource` reads them. */
async function* eventsOf({ body }: Response): AsyncGenerator<StreamedEvent, undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    const parts = (text + decoder.decode(chunk, { stream: true })).split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: (.+)$/m.exec(part)?.[1];
      if (data !== undefined) yield { id: /^id: (.+)$/m.exec(part)?.[1], data: JSON.parse(data) };
    }
  }
  return undefined;
}

/** Reads so many events, and leaves. */
async function take(stream: AsyncGenerator<StreamedEvent, undefined>, count: number): Promise<StreamedEvent[]> {
  const taken: StreamedEvent[] = [];
  for await (const event of stream) if (taken.push(event) === count) break;
  return taken;
}

describe('an EventSource of candles', () => {
  test('that reconnects gets each candle that was closed meanwhile once, then the one under way', async () => {
    const { app, advanceEach, candleNow, closedNow, sandbox } = await open();
    const url = `${await app.listen(0, '127.0.0.1')}?query=${encodeURIComponent(QUERY)}`;
    const connect = async (headers = {}) =>
      eventsOf(await fetch(url, { headers: { accept: 'text/event-stream', ...headers } }));

    const [before] = await take(await connect(), 1);
    expect(before).toEqual({ id: String(sandbox.chain.tip.height), data: candleNow()[0] });
    await advanceEach(8);
    const closed = closedNow();
    expect(closed.length).toBeGreaterThan(2);
    const expected = [...closed, ...candleNow()];
    const after = await take(await connect({ 'last-event-id': before?.id }), expected.length);
    expect(after.map(({ data }) => data)).toEqual(expected);

    // A client that leaves after the first of several closed candles gets the others again, and none is lost.
    expect(after.map(({ id }) => id)).toEqual([...closed.map(() => undefined), String(sandbox.chain.tip.height)]);
    const current = await take(await connect({ 'last-event-id': after.at(-1)?.id }), 1);
    expect(current.map(({ data }) => data)).toEqual(candleNow());
  });

  test('that reads slowly skips heights, but no closed candle', async () => {
    const { app, advanceEach, candleNow, closedNow, sandbox } = await open();
    const url = `http://gateway/graphql?query=${encodeURIComponent(QUERY)}`;
    const request = new Request(url, { headers: { accept: 'text/event-stream' } });
    const stream = eventsOf(await app.fetch(request));
    const received = [(await stream.next()).value];
    expect(received[0]?.data).toEqual(candleNow()[0]);

    // Nothing is read meanwhile: the response itself has room for a few events.
    await advanceEach(15);
    const last = String(sandbox.chain.tip.height);
    while (received.at(-1)?.id !== last) received.push((await stream.next()).value);
    await stream.return(undefined);

    const isClosed = (event: StreamedEvent | undefined) => event?.id === undefined;
    expect(received.filter(isClosed).map((event) => event?.data)).toEqual(closedNow());
    expect(closedNow().length).toBeGreaterThan(5);
    expect(received.at(-1)?.data).toEqual(candleNow()[0]);
    expect(received.filter((event) => !isClosed(event)).length).toBeLessThan(8);
  });
});
