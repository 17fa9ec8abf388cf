import { describe, expect, test } from 'vitest';
import { startGatewayForTest, type TestGateway } from '../../support/gateway.ts';

/** The text of a stream of events until it matches; with the id of the last event that its reader got, where it got one. */
async function streamUntil(
  { app }: TestGateway,
  query: string,
  until: RegExp,
  lastEventId?: string,
): Promise<{ readonly text: string; readonly ids: readonly string[] }> {
  const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) };
  const response = await app.fetch(`http://gateway/graphql?query=${encodeURIComponent(query)}`, { headers });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (until.test(text)) break;
  }
  return { text, ids: [...text.matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id) };
}

const ONE_EVENT = /event: next\n(.+\n)?data: .+\n\n/;

const PRICES = 'subscription { prices { poolPairs { id } } }';

/** A gateway that has served three heights, one by one. */
async function gatewayOfThreeHeights() {
  const gateway = await startGatewayForTest();
  const first = gateway.sandbox.chain.tip.height;
  await gateway.untilHeight(first);
  await gateway.advance();
  await gateway.advance();
  return { gateway, first };
}

describe('the events of a stream of prices', () => {
  test('have their height as id, also where it is not asked for', async () => {
    const { gateway, first } = await gatewayOfThreeHeights();
    const { text, ids } = await streamUntil(gateway, PRICES, ONE_EVENT);
    expect(ids).toEqual([String(first + 2)]);
    expect(text).toMatch(/^:\n\nevent: next\nid: \d+\ndata: \{"data":.*\}\n\n$/);
  });

  test('go on after the id that a browser that comes back names', async () => {
    const { gateway, first } = await gatewayOfThreeHeights();
    const { ids } = await streamUntil(gateway, PRICES, new RegExp(`id: ${first + 2}`), String(first));
    expect(ids).toEqual([first + 1, first + 2].map(String));
  });

  test('go on after that id also where the arguments name a height: a browser repeats them each time', async () => {
    const { gateway, first } = await gatewayOfThreeHeights();
    const query = `subscription { prices(afterHeight: ${first}) { beaconHeight } }`;
    const { ids } = await streamUntil(gateway, query, new RegExp(`id: ${first + 2}`), String(first + 1));
    expect(ids).toEqual([String(first + 2)]);
  });

  test('begin with the newest after an id far in the future: a browser would come back with it for ever', async () => {
    const { gateway, first } = await gatewayOfThreeHeights();
    const far = first + 2 + 101;
    const query = `subscription { prices(afterHeight: ${far}) { beaconHeight previousHeight missedHeights } }`;
    const { text } = await streamUntil(gateway, query, ONE_EVENT, String(far));
    const prices = { beaconHeight: first + 2, previousHeight: null, missedHeights: 0 };
    expect(text).toBe(`:\n\nevent: next\nid: ${first + 2}\ndata: ${JSON.stringify({ data: { prices } })}\n\n`);
  });

  test.each(['', 'abc', '-1', '0', '1.5', '1e3', '1e400', '0x3F6', '99999999999999999999'])(
    'an id that is no height is no id: %j',
    async (id) => {
      const { gateway, first } = await gatewayOfThreeHeights();
      const { ids } = await streamUntil(gateway, PRICES, ONE_EVENT, id);
      expect(ids).toEqual([String(first + 2)]);
    },
  );
});

test('events of which none can be missed for good have no id', async () => {
  const { gateway } = await gatewayOfThreeHeights();
  for (const query of ['subscription { head { beaconHeight } }', 'subscription { tickers { id } }']) {
    const { ids } = await streamUntil(gateway, query, ONE_EVENT);
    expect(ids).toEqual([]);
  }
});
