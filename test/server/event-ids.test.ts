import { describe, expect, test } from 'vitest';
import { startGatewayForTest, type TestGateway } from '../support/gateway.ts';

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
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (until.test(text)) break;
  }
  return { text, ids: [...text.matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id) };
}

const PRICES = 'subscription { prices { poolPairs { id } } }';

/** A gateway that has served three heights, one by one. */
async function gatewayOfThreeHeights() {
  const gateway = await startGatewayForTest();
  const first = gateway.sandbox.world.tip.height;
  await gateway.untilHeight(first);
  await gateway.advance();
  await gateway.advance();
  return { gateway, first };
}

describe('the events of a stream of prices', () => {
  test('have their height as id, also where it is not asked for', async () => {
    const { gateway, first } = await gatewayOfThreeHeights();
    const { text, ids } = await streamUntil(gateway, PRICES, /id: \d+\n\n/);
    expect(ids).toEqual([String(first + 2)]);
    expect(text).toMatch(/^event: next\ndata: \{"data":.*\}\nid: \d+\n\n/m);
  });

  test('go on after the id that a browser that comes back names', async () => {
    const { gateway, first } = await gatewayOfThreeHeights();
    const { ids } = await streamUntil(gateway, PRICES, new RegExp(`id: ${first + 2}`), String(first));
    expect(ids).toEqual([first + 1, first + 2].map(String));
  });

  test('go on after the height that the arguments name, where both do', async () => {
    const { gateway, first } = await gatewayOfThreeHeights();
    const query = `subscription { prices(afterHeight: ${first + 1}) { beaconHeight } }`;
    const { ids } = await streamUntil(gateway, query, new RegExp(`id: ${first + 2}`), String(first));
    expect(ids).toEqual([String(first + 2)]);
  });

  test.each(['', 'abc', '-1', '1.5', '1e400', '99999999999999999999'])(
    'an id that is no height is no id: %j',
    async (id) => {
      const { gateway, first } = await gatewayOfThreeHeights();
      const { ids } = await streamUntil(gateway, PRICES, /id: \d+\n\n/, id);
      expect(ids).toEqual([String(first + 2)]);
    },
  );
});

test('events of which none can be missed for good have no id', async () => {
  const { gateway } = await gatewayOfThreeHeights();
  for (const query of ['subscription { head { beaconHeight } }', 'subscription { tickers { id } }']) {
    const { ids } = await streamUntil(gateway, query, /event: next\ndata: .*\n\n/);
    expect(ids).toEqual([]);
  }
});
