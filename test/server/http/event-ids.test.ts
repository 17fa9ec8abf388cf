import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../support/gateway.ts';

/** A gateway that has served three heights, one by one. */
let gateway: Awaited<ReturnType<typeof startGateway>>;
let first = 0;
beforeAll(async () => {
  gateway = await startGateway();
  first = gateway.sandbox.chain.tip.height;
  await gateway.untilHeight(first);
  await gateway.advance();
  await gateway.advance();
});
afterAll(() => gateway.close());

/** Reads an event stream until its text matches. */
async function streamUntil(query: string, until: RegExp, lastEventId?: string) {
  const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) };
  const request = new Request(`http://gateway/graphql?query=${encodeURIComponent(query)}`, { headers });
  return readUntil(await gateway.app.fetch(request), until);
}

async function readUntil({ body }: Response, until: RegExp) {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (until.test(text)) break;
  }
  return { text, ids: [...text.matchAll(/^id: (.*)$/gm)].map(([, id = '']) => id) };
}

const ONE_EVENT = /event: next\n(.+\n)?data: .+\n\n/;

const PRICES = 'subscription { prices { poolPairs { id } } }';

describe('the events of a price stream', () => {
  test('have their height as id, also if the operation does not select it', async () => {
    const { text, ids } = await streamUntil(PRICES, ONE_EVENT);
    expect(ids).toEqual([String(first + 2)]);
    expect(text).toMatch(/^:\n\nevent: next\nid: \d+\ndata: \{"data":.*\}\n\n$/);
  });

  test('resume after the id that a reconnecting browser sends', async () => {
    const { ids } = await streamUntil(PRICES, new RegExp(`id: ${first + 2}`), String(first));
    expect(ids).toEqual([first + 1, first + 2].map(String));
  });

  test('resume after that id for a client that accepts JSON too', async () => {
    const url = await gateway.app.listen(0, '127.0.0.1');
    const headers = { accept: 'text/event-stream, application/json', 'last-event-id': String(first) };
    const response = await fetch(`${url}?query=${encodeURIComponent(PRICES)}`, { headers });
    const { ids } = await readUntil(response, new RegExp(`id: ${first + 2}`));
    expect(ids).toEqual([first + 1, first + 2].map(String));
  });

  test('resume after that id also if the arguments have a height, which a browser sends again each time', async () => {
    const query = `subscription { prices(afterHeight: ${first}) { beaconHeight } }`;
    const { ids } = await streamUntil(query, new RegExp(`id: ${first + 2}`), String(first + 1));
    expect(ids).toEqual([String(first + 2)]);
  });

  test('begin with the newest height after an id far in the future, which a browser would send for ever', async () => {
    const far = first + 2 + 101;
    const query = `subscription { prices(afterHeight: ${far}) { beaconHeight previousHeight missedHeights } }`;
    const { text } = await streamUntil(query, ONE_EVENT, String(far));
    const prices = { beaconHeight: first + 2, previousHeight: null, missedHeights: 0 };
    expect(text).toBe(`:\n\nevent: next\nid: ${first + 2}\ndata: ${JSON.stringify({ data: { prices } })}\n\n`);
  });

  test('begin with the newest height after an id that is not a height', async () => {
    for (const id of ['', 'abc', '-1', '0', '1.5', '1e3', '1e400', '0x3F6', '99999999999999999999']) {
      const { ids } = await streamUntil(PRICES, ONE_EVENT, id);
      expect([id, ids]).toEqual([id, [String(first + 2)]]);
    }
  });
});

test('events of other subscriptions have no id', async () => {
  for (const query of ['subscription { head { beaconHeight } }', 'subscription { tickers { id } }']) {
    const { ids } = await streamUntil(query, ONE_EVENT);
    expect(ids).toEqual([]);
  }
});
