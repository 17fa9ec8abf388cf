import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createStoreModel } from '../history/store-model.ts';
import {
  advanceOnPage,
  describeInBrowser,
  expectAccessible,
  expectNotWider,
  expectToFit,
  untilHeight,
} from '../support/explorer.ts';
import { recorded } from './recorded.ts';

describeInBrowser('the page of the chain', (browser) => {
  const shared = browser.share(recorded);

  test('shows the beacon chain, its epoch, every shard and who signed, and follows the chain', async () => {
    const opened = await browser.open('/chain', { start: recorded() });
    const { page, gateway } = opened;
    const { chain } = gateway.sandbox;
    const beacon = page.getByRole('region', { name: 'Beacon chain', exact: true });
    await beacon.getByText('1,640,000', { exact: true }).waitFor();
    const rows = page.getByRole('table').getByRole('row');
    await expect
      .poll(() => rows.getByRole('rowheader').allTextContents())
      .toEqual(['Beacon', ...Array.from({ length: 8 }, (_, shard) => `Shard ${shard}`)]);
    const { data } = await gateway.ask(
      '{ chainInfo { beacon { epochBlock remainingBlockEpoch } shard(id: 0) { hash validationData { validatorsIdx } } } }',
    );
    const { epochBlock, remainingBlockEpoch } = data.chainInfo.beacon;
    const { hash, validationData } = data.chainInfo.shard;
    const row = rows.nth(2);
    await expect
      .poll(() => row.textContent())
      .toContain(`signed: validators ${validationData.validatorsIdx.join(', ')}`);
    await expect.poll(() => row.getByTitle(hash).textContent()).toBe(`${hash.slice(0, 6)}…${hash.slice(-6)}`);
    const progress = beacon.getByRole('progressbar');
    await expect.poll(() => progress.getAttribute('value')).toBe(String(epochBlock - remainingBlockEpoch));

    const height = await advanceOnPage(opened, 2);
    expect(height).toBe(chain.tip.height);
    await beacon.getByText('1,640,002', { exact: true }).waitFor();
  });

  test('has the complete epoch at its last block', async () => {
    const { page } = await browser.open('/chain', { start: { sandbox: { startHeight: 350 * 4_686 } } });
    await page.getByText('350 of 350 blocks; 0 left', { exact: true }).waitFor();
    expect(await page.getByRole('progressbar').getAttribute('value')).toBe('350');
  });

  test('says why recorded blocks could not be read', async () => {
    const store = createStoreModel();
    const { page, gateway } = await browser.open('/chain', { start: { store } });
    store.fail(new Error('The disk is full.'));
    await page.goto(new URL('/chain/blocks', gateway.url).href);
    const reason = page.getByText(/^The history could not be read\. .*cannot read it now/);
    await reason.waitFor();
    await page.getByRole('link', { name: '1,639,990' }).click();
    await page.getByRole('heading', { level: 1, name: 'Block 1,639,990' }).waitFor();
    await reason.waitFor();
  });

  test('shows how long the blocks took', async () => {
    const { page } = await browser.open('/chain', { gateway: shared() });
    const panel = page.getByRole('region', { name: 'Block times' });
    await panel.locator('canvas').first().waitFor();
    await expect
      .poll(() => panel.getByText(/blocks took/).textContent())
      .toMatch(/^The last \d+ blocks took 40 s each \(median\)\. The slowest, 1,6[34]\d,\d{3}, took \d+ (s|min)\.$/);
    const link = panel.getByRole('link', { name: 'Show the query: Block times' });
    const url = new URL((await link.getAttribute('href')) ?? '', page.url());
    expect(url.searchParams.get('query')).toContain('blocks(last: $size)');
    expect(JSON.parse(url.searchParams.get('variables') ?? '')).toEqual({ size: 61 });
  });

  test('says that nothing is recorded', async () => {
    const { page } = await browser.open('/chain');
    await page.getByRole('region', { name: 'Block times' }).getByText('This gateway records no history').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  test('says that no node is configured', async () => {
    const { page } = await browser.open('/chain', { start: { without: 'NODE' } });
    const beacon = page.getByRole('region', { name: 'Beacon chain', exact: true });
    await beacon.getByText('No node is configured').waitFor();
    await page.getByRole('link', { name: 'Newest blocks' }).click();
    const newest = page.getByRole('region', { name: 'Newest blocks', exact: true });
    await newest.getByText('The node has shown no chain yet').waitFor();
    expect(await newest.getAttribute('aria-busy')).not.toBe('true');
    await page.goto(new URL('/chain/blocks/5', page.url()).href);
    const block = page.getByRole('region', { name: 'Block', exact: true });
    await block.getByText('The node has shown no chain yet').waitFor();
    expect(await block.getAttribute('aria-busy')).not.toBe('true');
  });

  test('lists the newest blocks, which follow the chain, and has a page of each', async () => {
    const opened = await browser.open('/chain', { start: recorded() });
    const { page, gateway } = opened;
    const first = page.getByRole('rowheader').first();
    await page.getByRole('link', { name: 'Newest blocks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Blocks' }).waitFor();
    await expect.poll(() => first.textContent()).toBe('1,640,000');
    expect(await page.getByRole('rowheader').count()).toBe(50);
    // The gateway has not read the two blocks below the newest one, and the one above them.
    await expect.poll(() => page.getByRole('cell', { name: '40 s', exact: true }).count()).toBe(47);
    await advanceOnPage(opened);
    await expect.poll(() => first.textContent()).toBe('1,640,001');

    await page.getByRole('link', { name: '1,640,000' }).click();
    await page.getByRole('heading', { level: 1, name: 'Block 1,640,000' }).waitFor();
    const { data } = await gateway.ask('{ history { blocks(last: 2) { hash } } }');
    await page.getByTitle(data.history.blocks[0].hash).waitFor();
    await page.getByRole('link', { name: '1,640,001 →' }).click();
    await page.getByRole('heading', { level: 1, name: 'Block 1,640,001' }).waitFor();
    expect(await page.locator('a[rel=next]').count()).toBe(0);
    await advanceOnPage(opened);
    await page.getByRole('link', { name: '1,640,002 →' }).waitFor();
  });

  test('says what a block has changed, and why a block cannot be shown', async () => {
    const { page, gateway } = await browser.open('/chain/blocks/1639999', { gateway: shared() });
    const fields = 'nodes { token1 { id } token2 { id } token1PoolValue token2PoolValue }';
    const { data } = await gateway.ask(
      `{ now: poolPairs(at: 1639999, first: 100) { ${fields} } before: poolPairs(at: 1639998, first: 100) { ${fields} } }`,
    );
    const before = data.before.nodes.map((pool: unknown) => JSON.stringify(pool));
    const count = data.now.nodes.filter((pool: unknown) => !before.includes(JSON.stringify(pool))).length;
    const changed = page.getByRole('region', { name: 'What it changed' });
    await changed.getByText(`changed ${count} of ${before.length} pools`).waitFor();
    expect(await changed.getByRole('rowheader').count()).toBe(count);
    await expectToFit(page, 'block');

    const go = (height: string) => page.goto(new URL(`/chain/blocks/${height}`, page.url()).href);
    await go('1000');
    await page.getByText('The node no longer has the state at beacon height 1000.').waitFor();
    await go('1640005');
    await page.getByText('This block does not exist yet').waitFor();
    await go('first');
    await page.getByText('“first” is not the height of a block').waitFor();
    await page.getByRole('link', { name: 'See the newest blocks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Blocks' }).waitFor();
    await page.getByRole('rowheader', { name: '1,640,000' }).waitFor();
    await expectNotWider(page, 'phone');
    await expectAccessible(page);
  });

  test('says what is read of a block and of the chain where only small pages are allowed, and shows no error before', async () => {
    const { page, gateway } = await browser.open('/chain/blocks/1639997', {
      start: { ...recorded(), config: { historyBackfillHours: 0, maxPageSize: 50 } },
      context: {},
      before: (opened) =>
        opened.addInitScript(() => {
          const codes: unknown[] = [];
          Object.assign(globalThis, { codes });
          new MutationObserver(() => {
            for (const element of document.querySelectorAll<HTMLElement>('[data-error]'))
              codes.push(element.dataset['error']);
          }).observe(document, { childList: true, subtree: true });
        }),
    });
    const hash = page.getByRole('button', { name: 'Copy hash of the block' });
    const shownErrors = () => page.evaluate(() => (globalThis as unknown as { codes: unknown[] }).codes);
    await page.getByText(/have changed \d of the 50 largest of \d+ pools/).waitFor();
    await hash.waitFor();
    expect(await shownErrors()).toEqual([]);

    await page.goto(new URL('/chain/blocks/1639900', gateway.url).href);
    await page.getByText('The gateway has not recorded this block, or lists only newer ones.').waitFor();
    await page.goto(new URL('/chain', gateway.url).href);
    await page.getByText(/^The last 4\d blocks took/).waitFor();
    expect(await shownErrors()).toEqual([]);
  });

  test('says why blocks of the list have no time and no hash where only small pages are allowed', async () => {
    const { page } = await browser.open('/chain/blocks', {
      start: { ...recorded(), config: { historyBackfillHours: 0, maxPageSize: 10 } },
    });
    await page.getByText('The gateway has not recorded the other blocks, or lists only newer ones.').waitFor();
    expect(await page.getByRole('rowheader').count()).toBe(50);
    expect(await page.getByRole('button', { name: /^Copy hash of block/ }).count()).toBe(10);
  });

  test('does not count the blocks of a short history as what the gateway lists at most', async () => {
    const { page } = await browser.open('/chain/blocks/1639990', {
      start: { ...recorded({ history: 6 }), config: { historyBackfillHours: 0, maxPageSize: 50 } },
    });
    await page.getByText('The gateway has not recorded this block, or lists only newer ones.').waitFor();
    await page.goto(new URL('/chain/blocks/1639000', page.url()).href);
    await page.getByText('This page reads the time and the hash of at most the newest 500 blocks.').waitFor();
  });

  test('says what a block has changed that has replaced the one that was shown', async () => {
    const gateway = await browser.serve(recorded());
    const { page } = await browser.open(`/chain/blocks/${gateway.sandbox.chain.tip.height}`, { gateway });
    const changed = page.getByRole('region', { name: 'What it changed' });
    const rows = () => changed.getByRole('row').allTextContents();
    await changed.getByRole('rowheader').first().waitFor();
    const before = await rows();

    gateway.sandbox.replaceTip();
    await expect
      .poll(async () => (await gateway.ask('{ service { head { hash } } }')).data.service.head.hash)
      .toBe(gateway.sandbox.chain.tip.hash);
    await advanceOnPage({ page, gateway });
    await expect.poll(rows).not.toEqual(before);
    const replaced = await rows();
    await page.reload();
    await expect.poll(rows).toEqual(replaced);
  });

  test('has the exact time of a block here and in UTC, but not the same one twice', async () => {
    for (const [timezoneId, shown] of [
      ['UTC', /^[A-Z][a-z]{2} \d+, \d{4}, \d\d:\d\d:\d\d UTC$/],
      ['Asia/Tokyo', /^[A-Z][a-z]{2} \d+, \d{4}, \d\d:\d\d:\d\d GMT\+9 \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)$/],
    ] as const) {
      const { page } = await browser.open('/chain/blocks/1639990', { gateway: shared(), context: { timezoneId } });
      const time = page.getByText('Time', { exact: true }).locator('xpath=following-sibling::dd[1]');
      await expect.poll(() => time.textContent()).toMatch(shown);
    }
  });

  test('lists blocks without a history too, with the times of those that the page has received', async () => {
    const sent: (string | null)[] = [];
    const before = async (opening: Page) => void opening.on('request', (request) => sent.push(request.postData()));
    const opened = await browser.open('/chain/blocks', { before });
    const { page, gateway } = opened;
    await page.getByText('This gateway records no history').first().waitFor();
    // How long a block took is known only if the page has received the block below it.
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    await advanceOnPage(opened);
    const row = page.getByRole('row').nth(1);
    await expect.poll(() => row.getByRole('rowheader').textContent()).toBe('1,640,001');
    await expect
      .poll(() => row.getByRole('cell').allTextContents())
      .toEqual([expect.stringMatching(/now|ago/), '40 s', expect.stringContaining('…')]);
    expect(await page.getByRole('row').nth(3).getByRole('cell').allTextContents()).toEqual(['–', '–', '–']);
    await page.getByRole('link', { name: '1,639,990' }).click();
    await page.getByText('so it knows the time and the hash only of new blocks').waitFor();
    await page.getByText(/have changed \d+ of \d+ pools/).waitFor();
    expect(sent.filter((body) => body?.includes('query BlockTimes'))).toEqual([]);
  });

  test('opens the block that was pressed, also when a new one arrives before the click', async () => {
    const opened = await browser.open('/chain/blocks');
    const { page } = opened;
    const first = page.getByRole('rowheader').first();
    await first.getByRole('link', { name: '1,640,000' }).hover();
    await page.mouse.down();
    await advanceOnPage(opened);
    await page.mouse.up();
    await page.getByRole('heading', { level: 1, name: 'Block 1,640,000' }).waitFor();
    await page.goBack();
    await expect.poll(() => first.textContent()).toBe('1,640,001');
  });

  test('is accessible, and fits on a phone and on a wide screen, light and dark', async () => {
    const { page } = await browser.open('/chain', { gateway: shared(), viewport: 'phone' });
    await page.locator('canvas').first().waitFor();
    await page.getByRole('rowheader', { name: 'Shard 7' }).waitFor();
    await expectToFit(page, 'chain');
  });
});
