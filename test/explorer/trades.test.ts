import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatAmount } from '../../explorer/src/format/amounts.ts';
import { formatInteger, formatPrice } from '../../explorer/src/format/numbers.ts';
import { createHistoryStore } from '../../src/history/store-client.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { volumesOf } from '../../src/sandbox/v3/trades.ts';
import { advanceOnPage, describeInBrowser, expectToFit, panel, untilHeight } from '../support/explorer.ts';
import type { TestGatewayOptions } from '../support/gateway.ts';
import type { ServedGateway } from '../support/served-gateway.ts';

const BLOCK_CALL = 'retrievebeaconblockbyheight';
const V3 = { exchange: 'v3' } as const;

/** A gateway of V3 that records trades from its first head on. */
function recorded(): TestGatewayOptions {
  const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
  return { store, sandbox: V3, config: { historyBackfillHours: 0, tradesBackfillHours: 0 } };
}

/** The ids of the pools that the trades of a block went through. */
function tradedPools({ chain }: SandboxHosts, height = chain.tip.height): readonly string[] {
  const events = chain.block(height)?.v3?.events ?? [];
  return events.flatMap((event) => (event.kind === 'trade' ? volumesOf(event.trade).map(({ poolId }) => poolId) : []));
}

/** The pool with the most trades in the newest blocks. */
function busiestPool(sandbox: SandboxHosts): string {
  const { height } = sandbox.chain.tip;
  const pools = Array.from({ length: 60 }, (_, below) => tradedPools(sandbox, height - below)).flat();
  const counts = [...Map.groupBy(pools, (poolId) => poolId)].sort((a, b) => b[1].length - a[1].length);
  return counts[0]?.[0] ?? '';
}

/** The newest trades of a pool and its market, as the gateway has them: as many as a first page of the explorer has. */
async function readPool({ ask }: ServedGateway, poolId: string, first = 50) {
  const { data, errors } = await ask(
    `query ($poolId: String!, $first: Int!) {
      pair(poolId: $poolId) { baseId base target ticker { tradedPrice } }
      pool(poolId: $poolId) {
        token1 { tokenId symbol decimals } token2 { tokenId symbol decimals }
        volume { token1 token2 trades since isComplete }
        trades(first: $first) { nodes { beaconHeight transactionId sellToken { tokenId } sellAmount buyAmount price } }
      }
    }`,
    { poolId, first },
  );
  expect(errors).toBeUndefined();
  const { pool, pair } = data;
  const isInverse = pair !== null && pair.baseId === pool.token1.tokenId;
  const [base, target] = isInverse ? [pool.token1, pool.token2] : [pool.token2, pool.token1];
  return { ...pool, tradedPrice: pair?.ticker?.tradedPrice, isInverse, base, target };
}

/** The rows that the page must show: side, price, amount and height. */
async function expectedRows(gateway: ServedGateway, poolId: string, first?: number): Promise<readonly string[]> {
  const { trades, base, target, isInverse } = await readPool(gateway, poolId, first);
  // biome-ignore lint/suspicious/noExplicitAny: the answer to an untyped query
  return trades.nodes.map(({ beaconHeight, sellToken, sellAmount, buyAmount, price }: any) => {
    const isBuy = sellToken.tokenId === target.tokenId;
    const amount = formatAmount(isBuy ? buyAmount : sellAmount, base.decimals);
    const cells = [
      isBuy ? 'Buy' : 'Sell',
      formatPrice(isInverse ? 1 / price : price),
      amount,
      formatInteger(beaconHeight),
    ];
    return cells.join(' ');
  });
}

/** The panel, after a reader has scrolled to it. */
async function scrollToTrades(page: Page) {
  await page.getByRole('link', { name: 'Show the query: Market' }).waitFor();
  const trades = panel(page, 'Trades');
  await trades.scrollIntoViewIfNeeded();
  return trades;
}

async function shownRows(page: Page): Promise<readonly string[]> {
  const rows = await panel(page, 'Trades')
    .locator('tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)));
  return rows.map((cells) => [0, 1, 2, 5].map((place) => cells[place]).join(' '));
}

/** Waits until the page lists what the gateway has, and as much as a first page has. @param before called before each comparison */
async function expectNewest(
  page: Page,
  gateway: ServedGateway,
  poolId: string,
  before: () => Promise<unknown> = async () => {},
): Promise<readonly string[]> {
  let expected: readonly string[] = [];
  await expect
    .poll(async () => {
      await before();
      expected = await expectedRows(gateway, poolId);
      return JSON.stringify((await shownRows(page)).slice(0, 50)) === JSON.stringify(expected);
    })
    .toBe(true);
  return expected;
}

describeInBrowser('the trades of a market', (browser) => {
  test('come live, and those of a block that was replaced go', async () => {
    const gateway = await browser.serve(recorded());
    await advanceUntilTrades(gateway);
    const poolId = busiestPool(gateway.sandbox);
    const { page } = await browser.open(`/pool/${poolId}`, { gateway });
    const trades = await scrollToTrades(page);
    for (let block = 0; block < 4; block++) {
      await advanceOnPage({ page, gateway });
      await expectNewest(page, gateway, poolId);
    }
    const before = await shownRows(page);
    await untilTipTrades(gateway, page, poolId);
    const { height } = gateway.sandbox.chain.tip;
    expect((await expectNewest(page, gateway, poolId)).length).toBeGreaterThan(before.length);

    gateway.sandbox.replaceTip();
    // Until then, gateway and page agree about the block that was replaced.
    await expect
      .poll(async () => (await gateway.ask('{ service { head { hash } } }')).data.service.head.hash)
      .toBe(gateway.sandbox.chain.tip.hash);
    await untilHeight(page, height);
    await expectNewest(page, gateway, poolId);

    // A link to each block, with a mouse.
    const [row] = await shownRows(page);
    const link = trades.getByRole('link', { name: `Block ${row?.split(' ').at(-1)}` }).first();
    const box = await link.boundingBox();
    await page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2);
    await expect
      .poll(() => new URL(page.url()).pathname)
      .toBe(`/chain/blocks/${row?.split(' ').at(-1)?.replaceAll(',', '')}`);
  });

  test('go back as far as they are recorded, and are read with the keyboard', async () => {
    const gateway = await browser.serve(recorded());
    const { height: first } = gateway.sandbox.chain.tip;
    await gateway.advance(90);
    // The trades of heights that were skipped are not known before they are final and recorded.
    for (let block = 0; block < 4; block++) await gateway.advance();
    const poolId = busiestPool(gateway.sandbox);
    const heights = Array.from({ length: gateway.sandbox.chain.tip.height - first + 1 }, (_, above) => first + above);
    const traded = heights.flatMap((height) => tradedPools(gateway.sandbox, height)).filter((id) => id === poolId);
    expect(traded.length).toBeGreaterThan(100);
    const allRows = () => expectedRows(gateway, poolId, 500);
    await expect.poll(async () => (await allRows()).length).toBe(traded.length);
    const { page } = await browser.open(`/pool/${poolId}`, { gateway });
    const trades = await scrollToTrades(page);
    await expectNewest(page, gateway, poolId);
    await trades.getByRole('region', { name: 'Trades as a table' }).focus();
    await page.keyboard.press('End');
    const older = trades.getByRole('button', { name: 'Load older trades' });
    const noOlder = trades.getByText(/^No older trades are recorded/);
    for (;;) {
      const before = (await shownRows(page)).length;
      await older.press('Enter');
      await expect.poll(async () => (await shownRows(page)).length).toBeGreaterThan(before);
      // While it loads, the button has another name.
      await older.or(noOlder).waitFor();
      if (await noOlder.isVisible()) break;
      expect(await older.evaluate((button) => button.matches(':focus'))).toBe(true);
    }
    // The button keeps the focus while it loads. When it goes away, its panel has it.
    await page.locator('h2:focus', { hasText: 'Trades' }).waitFor();
    expect(await shownRows(page)).toEqual(await allRows());
    // Newer ones come above them, and nothing is lost or twice.
    for (let block = 0; block < 4; block++) await advanceOnPage({ page, gateway });
    await expect.poll(() => shownRows(page)).toEqual(await allRows());
  });

  test('have an exact volume, a place in the divergence, and exact bars in the chart, and fit a phone', async () => {
    const gateway = await browser.serve(recorded());
    await advanceUntilTrades(gateway);
    const poolId = busiestPool(gateway.sandbox);
    const { page } = await browser.open(`/pool/${poolId}?interval=1m&view=table`, { gateway });
    await scrollToTrades(page);
    const { volume, base, isInverse } = await readPool(gateway, poolId);
    const figure = panel(page, 'Market').locator('dl > div').filter({ hasText: '24 h volume on the chain' });
    await figure.getByText(formatAmount(isInverse ? volume.token1 : volume.token2, base.decimals)).waitFor();
    expect(volume.isComplete).toBe(false);
    await figure.getByText(new RegExp(`^At least: ${volume.trades} trades? since$`)).waitFor();

    // The history begins in the middle of an interval, and the last intervals are known from their first block on.
    // One after another: of skipped blocks, the page would have the trades only with its next block.
    for (let block = 0; block < 6; block++) await advanceOnPage({ page, gateway });
    const cells = () => panel(page, 'Price').locator('tbody tr td:last-child').allTextContents();
    await expect.poll(async () => (await cells()).filter((cell) => /^[\d.,]+$/.test(cell)).length).toBeGreaterThan(1);
    await panel(page, 'Price').getByRole('tab', { name: 'Chart' }).click();
    await panel(page, 'Price')
      .getByText(/^Volume( at least)?$/)
      .waitFor();

    const { tradedPrice } = await readPool(gateway, poolId);
    if (tradedPrice == null) throw new Error('the pool has no market');
    await panel(page, 'Divergence').scrollIntoViewIfNeeded();
    await panel(page, 'Divergence')
      .getByRole('row', { name: `Newest trade on the chain ${formatPrice(tradedPrice)}` })
      .waitFor();
    // Here, where the list is short: axe looks at each row.
    await expectNewest(page, gateway, poolId);
    await expectToFit(page, 'trades');
  });

  test('are those since the page was opened if no history is recorded', async () => {
    const gateway = await browser.serve({ sandbox: V3 });
    const poolId = busiestPool(gateway.sandbox);
    while (tradedPools(gateway.sandbox).includes(poolId)) await gateway.advance();
    // On a phone, they are far below what is on the screen at first. Those that come before somebody looks are listed too.
    const { page } = await browser.open(`/pool/${poolId}`, { gateway, viewport: 'phone' });
    await page.getByRole('link', { name: 'Show the query: Market' }).waitFor();
    const trades = panel(page, 'Trades');
    await trades.getByText('No trade since this page was opened').waitFor();
    await untilTipTrades(gateway, page, poolId);
    await expect.poll(() => shownRows(page)).not.toEqual([]);
    await trades.scrollIntoViewIfNeeded();
    await trades.getByText(/^Trades since this page was opened/).waitFor();
    const before = await shownRows(page);
    gateway.sandbox.replaceTip();
    await expect.poll(() => shownRows(page)).not.toEqual(before);
  });

  test('say why there are none: the node does not send blocks, and nothing was traded', async () => {
    let clear = () => {};
    const gateway = await browser.serve({
      ...recorded(),
      before(sandbox) {
        clear = sandbox.node.faults.set({ kind: 'status', status: 500, body: '', on: BLOCK_CALL });
      },
    });
    const poolId = busiestPool(gateway.sandbox);
    const { page } = await browser.open(`/pool/${poolId}`, { gateway, allowed: [/500/] });
    const trades = await scrollToTrades(page);
    await trades.getByText('The node responds with an error status').waitFor();
    await panel(page, 'Market').getByText('24 h volume on the chain').waitFor();
    clear();
    await untilTipTrades(gateway, page, poolId);
    // The gateway reads the earlier blocks again after a while, and the page reads its trades again with a new block.
    await expectNewest(page, gateway, poolId, () => advanceOnPage({ page, gateway }));

    const { data } = await gateway.ask('{ poolPairs(first: 200) { nodes { poolId isTradable } } }');
    const idle = data.poolPairs.nodes.find(({ isTradable }: { isTradable: boolean }) => !isTradable);
    await page.goto(new URL(`/pool/${idle.poolId}`, gateway.url).href);
    await (await scrollToTrades(page)).getByText('No trade is recorded yet').waitFor();
  });

  test('are not there in V1', async () => {
    const { page } = await browser.open('/market/pBTC_PRV');
    await page.getByRole('link', { name: 'Show the query: Market' }).waitFor();
    await panel(page, 'Depth').waitFor();
    expect([await panel(page, 'Trades').count(), await page.getByText('on the chain').count()]).toEqual([0, 0]);
  });
});

/** Makes blocks until trades of final blocks are recorded. A page reads what is recorded later only with its next block. */
async function advanceUntilTrades({ app, advance }: ServedGateway): Promise<void> {
  for (let block = 0; block < 8; block++) await advance();
  // Those of the first head, and of all blocks up to three below the newest.
  await expect.poll(() => app.service.sources.history.status().tradeCoverage?.blocks).toBe(6);
}

/** Makes blocks until the newest one has a trade through the pool, and the page has it. */
async function untilTipTrades(gateway: ServedGateway, page: Page, poolId: string): Promise<void> {
  do await advanceOnPage({ page, gateway });
  while (!tradedPools(gateway.sandbox).includes(poolId));
}
