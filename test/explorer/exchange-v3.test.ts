import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatExactAmount } from '../../explorer/src/format/amounts.ts';
import { formatPrice } from '../../explorer/src/format/numbers.ts';
import { shortPoolId } from '../../explorer/src/format/prices.ts';
import { advanceOnPage, describeInBrowser, expectToFit, panel, untilHeight } from '../support/explorer.ts';
import { readLayoutShift, recordShifts } from '../support/layout-shifts.ts';
import type { ServedGateway } from '../support/served-gateway.ts';
import { recorded } from './recorded.ts';

type Pool = {
  readonly poolId: string;
  readonly price: number | null;
  readonly inversePrice: number | null;
  readonly isTradable: boolean;
  readonly pairs: readonly { readonly tickerId: string }[];
  readonly token1: { readonly tokenId: string; readonly symbol: string | null };
  readonly token2: { readonly tokenId: string; readonly symbol: string | null };
};

/** All pools, the most liquid first. */
async function poolsOf({ ask }: ServedGateway): Promise<readonly Pool[]> {
  const { data } = await ask(`{ poolPairs(first: 200, orderBy: NATIVE_LIQUIDITY_DESC) { nodes {
    poolId price inversePrice isTradable pairs { tickerId } token1 { tokenId symbol } token2 { tokenId symbol }
  } } }`);
  return data.poolPairs.nodes;
}

/** The pools that PRV and USDT have, as a market of the host or not. */
const ofUsdt = (pools: readonly Pool[]) =>
  pools.filter(({ token1, token2 }) => token1.symbol === 'PRV' && token2.symbol === 'USDT');
const listed = (pools: readonly Pool[]) => pools.filter(({ pairs }) => pairs.length > 0);

/** A pool and an amount of its first token whose best route costs more than a single pool, with the fees. */
async function dearRouteOf(gateway: ServedGateway): Promise<{ readonly poolId: string; readonly amount: string }> {
  type Costs = {
    readonly buyAmount: string;
    readonly fee: { readonly inSellToken: string };
    readonly route: readonly object[];
  };
  for (const { poolId, token1, token2 } of listed(await poolsOf(gateway))) {
    if (token1.symbol !== 'PRV') continue;
    const { data } = await gateway.ask(
      `query ($sellTokenId: TokenId!, $buyTokenId: TokenId!, $sellAmount: BigInt!) {
        route: quote(sellTokenId: $sellTokenId, buyTokenId: $buyTokenId, sellAmount: $sellAmount) { ...Costs }
        single: quote(sellTokenId: $sellTokenId, buyTokenId: $buyTokenId, sellAmount: $sellAmount, maxHops: 1) { ...Costs }
      } fragment Costs on Quote { buyAmount fee { inSellToken } route { sellAmount } }`,
      { sellTokenId: token1.tokenId, buyTokenId: token2.tokenId, sellAmount: '1000000000000' },
    );
    const { route, single }: { route: Costs | null; single: Costs | null } = data;
    const received = (costs: Costs) => Number(costs.buyAmount) / (1_000_000_000_000 + Number(costs.fee.inSellToken));
    if (route && single && route.route.length > 1 && received(route) < received(single) * 0.9999)
      return { poolId, amount: '1000' };
  }
  throw new Error('the sandbox has such a route');
}

/** Stays until the market is there: other panels stand in the places of its panels before. */
const untilMarket = (page: Page) => page.getByRole('link', { name: 'Show the query: Market' }).waitFor();

const figure = (page: Page, name: string) =>
  panel(page, 'Pool').locator('dl > div').filter({ hasText: name }).locator('dd').first();

describeInBrowser('the explorer of a gateway of V3', (browser) => {
  const shared = browser.share(() => recorded({ exchange: 'v3' }));

  test('has a row for each pool: three markets PRV/USDT have their own prices, and a search finds a pool by its id', async () => {
    const { page, gateway } = await browser.open('/?search=prv/usdt', { gateway: shared() });
    const pools = listed(ofUsdt(await poolsOf(gateway)));
    expect(pools).toHaveLength(3);
    const rows = page.getByRole('row').filter({ has: page.getByRole('link', { name: /^PRV/ }) });
    await expect.poll(() => rows.count()).toBe(3);
    for (const { poolId, inversePrice } of pools) {
      const row = rows.filter({ hasText: `pool ${shortPoolId(poolId)} · fee ` });
      await row.getByRole('cell', { name: formatPrice(inversePrice), exact: true }).waitFor();
    }
    expect(new Set(pools.map(({ inversePrice }) => inversePrice)).size).toBe(3);
    // What tells the pools apart is neither cut nor over the price.
    const roomLeft = () =>
      rows.evaluateAll((all) =>
        all.map((row) => {
          const end = (element: Element | null) => {
            const range = document.createRange();
            range.selectNodeContents(element as Element);
            return range.getBoundingClientRect();
          };
          const name = row.querySelector('th a > span:last-child') as HTMLElement;
          const isCut = getComputedStyle(name).overflow === 'hidden' && name.scrollWidth > name.clientWidth;
          return isCut ? Number.NaN : end(row.querySelector('td')).left - end(name).right;
        }),
      );
    for (const width of [390, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await expect.poll(async () => (await roomLeft()).filter((pixels) => !(pixels > 8))).toEqual([]);
    }

    const { poolId } = pools[2] as Pool;
    await page.getByRole('button', { name: /^Search/ }).click();
    await page.getByRole('searchbox', { name: 'Search everything' }).fill(poolId);
    await page.getByText('1 found').waitFor();
    await page.getByRole('link', { name: /^Market\s*PRV\/USDT/ }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('pool')).toBe(poolId);
    await panel(page, 'Pool').getByText(shortPoolId(poolId), { exact: true }).waitFor();
  });

  test('shows what a pool is, its book on the chain beside that of the host, and follows it', async () => {
    const opened = await browser.open('/', { start: recorded({ exchange: 'v3' }) });
    const { page, gateway } = opened;
    const [pool] = listed(ofUsdt(await poolsOf(gateway)));
    if (pool === undefined) throw new Error('the sandbox has this market');
    await page.goto(new URL(`/pool/${pool.poolId}`, gateway.url).href);
    await untilMarket(page);
    const { data } = await gateway.ask(
      `query ($poolId: String!) { pool(poolId: $poolId) {
        feeRateBps amplifier token1PoolValue token1VirtualValue book(depth: 22) { bestBid bestAsk bids { price } }
      } }`,
      { poolId: pool.poolId },
    );
    await expect.poll(() => figure(page, 'Version').textContent()).toBe('V3');
    await expect.poll(() => figure(page, 'Trading fee').textContent()).toBe(`${data.pool.feeRateBps / 100}%`);
    await expect.poll(() => figure(page, 'Amplification').textContent()).toBe(`${data.pool.amplifier / 10_000}×`);
    await panel(page, 'Pool').getByText('can pay out only what it really holds').waitFor();
    const siblings = panel(page, 'Pool').getByRole('link', { name: /\(fee / });
    await expect.poll(() => siblings.count()).toBe(4);
    await page.getByRole('button', { name: 'Copy id of the pool' }).waitFor();

    const book = panel(page, 'Order book');
    const prices = () => book.locator('tr[style] td:first-child').allTextContents();
    // The market counts USDT per PRV: the highest bid of the pool, in PRV per USDT, is the lowest ask.
    await expect.poll(prices).toContain(formatPrice(1 / data.pool.book.bestBid));
    await expect.poll(prices).toContain(formatPrice(1 / data.pool.book.bestAsk));
    await book.getByRole('tab', { name: 'Of the host' }).click();
    await book.getByLabel('Group prices by').waitFor();
    await book.getByRole('tab', { name: 'On the chain' }).click();
    await panel(page, 'Depth').scrollIntoViewIfNeeded();
    await panel(page, 'Depth').getByText('Pool and its orders').waitFor();
    await panel(page, 'Depth')
      .getByText(/PRV can be bought for/)
      .waitFor();

    const height = await advanceOnPage(opened, 3);
    const { data: after } = await gateway.ask('query ($id: String!) { pool(poolId: $id) { inversePrice } }', {
      id: pool.poolId,
    });
    await panel(page, 'Market').getByText(formatPrice(after.pool.inversePrice), { exact: true }).first().waitFor();
    await panel(page, 'Price')
      .getByText(`Close ${formatPrice(after.pool.inversePrice)}`)
      .waitFor();
    await book.scrollIntoViewIfNeeded();
    await book.getByText(`height ${height.toLocaleString('en-US')}`).waitFor();
    await expectToFit(page, 'market-v3');
  });

  test('says when a book is crossed', async () => {
    const gateway = shared();
    const [pool] = listed(ofUsdt(await poolsOf(gateway)));
    const { page } = await browser.open(`/pool/${pool?.poolId}`, {
      gateway,
      before: (page) =>
        page.route('**/graphql', async (route) => {
          if (!route.request().postData()?.includes('"operationName":"ChainBook"')) return route.continue();
          const response = await route.fetch();
          const answer = await response.json();
          answer.data.pool.book.isCrossed = true;
          await route.fulfill({ response, json: answer });
        }),
    });
    await panel(page, 'Order book')
      .getByText(/^Crossed: .* never matches orders with each other/)
      .waitFor();
  });

  test('calculates swaps with their fee, along more pools or through this pool alone, and says why a trade is refused', async () => {
    const gateway = shared();
    const [pool] = listed(ofUsdt(await poolsOf(gateway)));
    const { page } = await browser.open(`/pool/${pool?.poolId}?from=token1&pay=5&route=pool`, { gateway });
    await untilMarket(page);
    const swap = panel(page, 'Swap');
    await swap.scrollIntoViewIfNeeded();
    const ask = (more: string) =>
      gateway.ask(
        `{ quote(sellTokenId: "${pool?.token1.tokenId}", buyTokenId: "${pool?.token2.tokenId}", sellAmount: 5000000000, ${more}) {
          buyAmount fee { rateBps } route { poolPair { poolId } } } }`,
      );
    const alone = (await ask(`route: ["${pool?.poolId}"]`)).data.quote;
    const received = swap.getByLabel('You receive');
    const shown = (units: string) => formatExactAmount(units, 6).replaceAll(',', '');
    await expect.poll(() => received.inputValue()).toBe(shown(alone.buyAmount));
    await swap.getByText(`(${alone.fee.rateBps / 100}%)`).waitFor();
    await swap.getByRole('link', { name: `Pool PRV/USDT ${shortPoolId(pool?.poolId ?? '')}` }).waitFor();

    await swap.getByLabel('Route').selectOption('5');
    const best = (await ask('maxHops: 5')).data.quote;
    await expect.poll(() => received.inputValue()).toBe(shown(best.buyAmount));
    await expect.poll(() => new URL(page.url()).searchParams.get('route')).toBe('5');
    await expect.poll(() => swap.locator('ol > li').count()).toBe(best.route.length);

    // More than the pool holds.
    await swap.getByLabel('Route').selectOption('pool');
    // An amount that arrives while a field is filled would undo the selection of the text that is replaced.
    await expect.poll(() => received.inputValue()).toBe(shown(alone.buyAmount));
    await received.fill('9999999');
    await swap.getByText('The exchange would refuse this trade', { exact: true }).waitFor();
    await swap.getByText(/^A pool on the route .* more than it really holds/).waitFor();
    expect(await swap.getByRole('status').textContent()).toMatch(/^No quote\. .* refuse .* more than it really holds/);
    await swap.getByLabel('You pay').fill('5');
    await expect.poll(() => received.inputValue()).toBe(shown(alone.buyAmount));
  });

  test('says when a single pool is cheaper with the fees than a route of several pools', async () => {
    const gateway = shared();
    const { poolId, amount } = await dearRouteOf(gateway);
    const { page } = await browser.open(`/pool/${poolId}?from=token1&pay=${amount}`, { gateway });
    await untilMarket(page);
    const swap = panel(page, 'Swap');
    await swap.scrollIntoViewIfNeeded();
    const note = swap.getByText('“Best single pool” is cheaper than this route');
    await note.waitFor();
    expect(await swap.locator('ol > li').count()).toBeGreaterThan(1);
    await swap.getByLabel('Route').selectOption('1');
    await expect.poll(() => swap.locator('ol > li').count()).toBe(1);
    expect(await note.count()).toBe(0);
  });

  test('has pages of pools without a market by their ids, and says when a pool refuses every trade', async () => {
    const gateway = shared();
    const { page } = await browser.open('/nothing', { gateway, allowed: [/404/] });
    const alone = (await poolsOf(gateway)).filter(({ pairs }) => pairs.length === 0);
    expect(alone.map(({ isTradable }) => isTradable).toSorted()).toEqual([false, false, true]);
    for (const { poolId, price, isTradable } of alone) {
      await page.goto(new URL(`/pool/${poolId}?pay=1&route=pool`, gateway.url).href);
      await untilMarket(page);
      await expect.poll(() => figure(page, 'Pool id').textContent()).toContain(shortPoolId(poolId));
      await panel(page, 'Order book').waitFor();
      const notice = panel(page, 'Pool').getByRole('note');
      expect(await notice.count()).toBe(isTradable ? 0 : 1);
      if (isTradable) continue;
      expect(await notice.textContent()).toMatch(
        price === null ? /^This pool is empty/ : /^This pool refuses every trade/,
      );
      await panel(page, 'Swap').scrollIntoViewIfNeeded();
      await panel(page, 'Swap').getByText('The exchange would refuse this trade', { exact: true }).waitFor();
    }
    await expectToFit(page, 'pool-v3');
    await page.goto(new URL(`/pool/${'a'.repeat(64)}-${'b'.repeat(64)}-${'c'.repeat(64)}`, gateway.url).href);
    await page.getByRole('heading', { level: 1, name: /not found/ }).waitFor();
  });

  test('follows old links of two tokens to their most liquid pool, which lists the others', async () => {
    const gateway = shared();
    const [first, ...others] = ofUsdt(await poolsOf(gateway));
    const { page } = await browser.open(`/pool/${first?.token2.tokenId}-${first?.token1.tokenId}?interval=1h`, {
      gateway,
    });
    await expect.poll(() => new URL(page.url()).searchParams.get('pool')).toBe(first?.poolId);
    expect(new URL(page.url()).searchParams.get('interval')).toBe('1h');
    await untilMarket(page);
    for (const { poolId } of others) {
      const link = panel(page, 'Pool').getByRole('link', { name: new RegExp(`^${shortPoolId(poolId)} `) });
      expect(await link.getAttribute('href')).toBe(`/pool/${poolId}`);
    }
  });

  test.each([
    ['phone', { width: 390, height: 844 }, { isMobile: true, hasTouch: true }],
    ['desktop', { width: 1440, height: 900 }, {}],
  ] as const)('does not jump on a %s, on load and while blocks arrive', async (_name, viewport, context) => {
    const opened = await browser.open('/nothing', {
      start: recorded({ exchange: 'v3' }),
      context,
      allowed: [/404/],
      initScript: recordShifts,
      before: (page) => page.setViewportSize(viewport),
    });
    const { page, gateway } = opened;
    const pools = await poolsOf(gateway);
    const [market] = listed(ofUsdt(pools));
    const alone = pools.filter(({ pairs, isTradable }) => pairs.length === 0 && !isTradable);
    const jumps: unknown[] = [];
    for (const path of ['/', '/?list=pools', ...[market, ...alone].map((pool) => `/pool/${pool?.poolId}?pay=1`)]) {
      await page.goto(new URL(path, gateway.url).href);
      await untilHeight(page, gateway.sandbox.chain.tip.height);
      await (path.startsWith('/pool') ? untilMarket(page) : page.getByRole('rowheader').first().waitFor());
      for (let height = 0; height < 2; height += 1) await advanceOnPage(opened);
      const { cls, shifts } = await readLayoutShift(page);
      if (cls > MAX_LAYOUT_SHIFT) jumps.push({ path, cls, shifts });
    }
    expect(jumps).toEqual([]);
  });
});

/** As in `layout.test.ts`: what moves less than this is not seen as a jump. */
const MAX_LAYOUT_SHIFT = 0.05;
