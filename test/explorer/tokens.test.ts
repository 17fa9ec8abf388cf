import { expect, test } from 'vitest';
import { describeInBrowser, expectToFit, scrollToEnd } from '../support/explorer.ts';
import { BTC } from '../support/tokens.ts';

describeInBrowser('the page of the tokens', (browser) => {
  const shared = browser.share();

  test('lists every token with its price in the native coin, its pools and its id', async () => {
    const { page, gateway } = await browser.open('/tokens', { gateway: shared() });
    const table = page.getByRole('table');
    const row = table.getByRole('row').filter({ has: page.getByTitle(BTC).first() });
    await row.waitFor();
    const { data } = await gateway.ask(`{ tokens { tokenId } token(id: "${BTC}") { nativePrice poolCount } }`);
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(data.tokens.length + 1));
    const cells = await row.getByRole('cell').allTextContents();
    expect(cells.slice(0, 3)).toEqual([
      data.token.nativePrice.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
      String(data.token.poolCount),
      '9',
    ]);
  });

  test('is searched and sorted by its URL, which a reload and the history keep', async () => {
    const { page } = await browser.open('/tokens', { gateway: shared() });
    await page.getByRole('rowheader').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('btc');
    await page.getByText(/^1 of \d+ tokens$/).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?search=btc');
    await page.reload();
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('btc');
    await expect.poll(() => page.getByRole('rowheader').allTextContents()).toEqual(['BTC']);

    await page.getByRole('searchbox').fill('');
    await page.getByRole('button', { name: 'Token', exact: true }).click();
    await page.locator('th[aria-sort=ascending]', { hasText: 'Token' }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?sort=name');
    const names = await page.getByRole('rowheader').allTextContents();
    expect(names.slice(0, 5)).toEqual(names.slice(0, 5).toSorted((a, b) => a.localeCompare(b)));
    await page.getByRole('button', { name: 'Token', exact: true }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?sort=name&direction=descending');
    await page.locator('th[aria-sort=descending]', { hasText: 'Token' }).waitFor();

    await scrollToEnd(page);
    await page.getByRole('link', { name: 'BTC' }).click();
    await page.getByRole('heading', { level: 1, name: 'Markets' }).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('search')).toBe(BTC);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?sort=name&direction=descending');
  });

  test('keeps a search that was typed just before the list was sorted', async () => {
    const { page } = await browser.open('/tokens', { gateway: shared() });
    await page.getByRole('rowheader').first().waitFor();
    await page.evaluate(() => {
      const field = document.querySelector<HTMLInputElement>('input[type=search]');
      const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
      value?.set?.call(field, 'btc');
      field?.dispatchEvent(new Event('input', { bubbles: true }));
      document.querySelector<HTMLElement>('th button')?.click();
    });
    await page.locator('th[aria-sort=ascending]', { hasText: 'Token' }).waitFor();
    await page.getByText(/^1 of \d+ tokens$/).waitFor();
    expect(new URL(page.url()).search).toBe('?search=btc&sort=name');
  });

  test('is sorted by each column on a phone too, also by one that has no room', async () => {
    const { page, gateway } = await browser.open('/tokens', { gateway: shared(), viewport: 'phone' });
    await page.getByRole('rowheader').first().waitFor();
    const sort = page.getByLabel('Sort by');
    await expect.poll(() => sort.locator('option').allTextContents()).toEqual(['Token', 'Price', 'Pools', 'Decimals']);
    await sort.selectOption('Decimals');
    await expect.poll(() => new URL(page.url()).search).toBe('?sort=decimals');
    const { data } = await gateway.ask('{ tokens { tokenId decimals } }');
    const most = Math.max(...data.tokens.map(({ decimals }: { decimals: number | null }) => decimals ?? 0));
    const first = page.locator('tbody tr').first().locator('td:nth-child(4)');
    await expect.poll(() => first.textContent()).toBe(String(most));
  });

  test('shows the whole short id of a token without a symbol on a phone, or where it is cut', async () => {
    const gateway = await browser.serve({ sandbox: { exchange: 'v3' } });
    const { data } = await gateway.ask('{ tokens { tokenId symbol } }');
    const { tokenId } = data.tokens.find(({ symbol }: { symbol: string | null }) => symbol === null);
    const { page } = await browser.open(`/tokens?search=${tokenId}`, { gateway, viewport: 'phone' });
    const names = page.getByRole('rowheader').getByText(/^\w{6}…\w{6}$/);
    await names.first().waitFor();
    for (const [width, isWhole] of [
      [390, true],
      [320, false],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      const read = (name: HTMLElement) => ({
        isWhole: name.scrollWidth <= name.clientWidth,
        ending: getComputedStyle(name).textOverflow,
        isInside: name.getBoundingClientRect().right <= (name.closest('th')?.getBoundingClientRect().right ?? 0),
      });
      expect(await names.first().evaluate(read)).toEqual({ isWhole, ending: 'ellipsis', isInside: true });
    }
  });

  test('shows a token id to copy where the browser does not let the page copy it', async () => {
    const { page } = await browser.open(`/tokens?search=${BTC}`, {
      gateway: shared(),
      // As on a page over HTTP of another computer.
      initScript: () => void Object.defineProperty(navigator, 'clipboard', { value: undefined }),
    });
    const shown = page.waitForEvent('dialog');
    const clicked = page.getByRole('button', { name: 'Copy token id' }).click();
    const dialog = await shown;
    expect([dialog.type(), dialog.defaultValue()]).toEqual(['prompt', BTC]);
    expect(dialog.message()).toMatch(/does not let this page copy/);
    await dialog.dismiss();
    await clicked;
    await page.getByRole('button', { name: 'Copy token id' }).waitFor();
  });

  test('says that nothing matches, and clears the search', async () => {
    const { page } = await browser.open('/tokens?search=nothing', { gateway: shared() });
    await page.getByText('No token matches').waitFor();
    await page.getByRole('button', { name: 'Clear the search' }).click();
    await page.getByRole('rowheader').first().waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await page.locator('input[type=search]:focus').waitFor();
  });

  test('of a thousand pools has rows only near the screen, and counts them all', async () => {
    const { page, gateway } = await browser.open('/tokens?sort=name', { start: { sandbox: { pools: 1_000 } } });
    await page.getByRole('rowheader').first().waitFor();
    const { data } = await gateway.ask('{ tokens { tokenId } }');
    await expect.poll(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(data.tokens.length + 1));
    expect(await page.getByRole('rowheader').count()).toBeLessThan(80);
    await scrollToEnd(page);
    await page.locator(`[aria-rowindex="${data.tokens.length + 1}"]`).waitFor();
  });

  test('is accessible, and fits on a phone and on a wide screen, light and dark', async () => {
    const { page } = await browser.open('/tokens', { gateway: shared(), viewport: 'phone' });
    await page.getByRole('rowheader').first().waitFor();
    await expectToFit(page, 'tokens', { fullPage: false });
  });
});
