import type { Request } from 'playwright-core';
import { expect, test } from 'vitest';
import { advanceOnPage, describeInBrowser, untilHeight, VIEWPORTS } from '../support/explorer.ts';

const PAGES = [
  ['Markets', '/'],
  ['Chain', '/chain'],
  ['Tokens', '/tokens'],
  ['Status', '/status'],
] as const;

describeInBrowser('the shell of the explorer', (browser) => {
  const shared = browser.share();

  test('has the name, the pages, the version, and the height, which follows the chain', async () => {
    const opened = await browser.open('/');
    const { page, gateway } = opened;
    await untilHeight(page, gateway.sandbox.chain.tip.height);
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await expect.poll(() => links.allTextContents()).toEqual(PAGES.map(([name]) => name));
    const footer = page.getByRole('contentinfo');
    await expect
      .poll(() => footer.textContent())
      .toMatch(/^pdex-gateway \d+\.\d+\.\d+ · height 1,640,000 · (now|\d+ s ago)/);

    expect(await advanceOnPage(opened, 3)).toBe(1_640_003);
    await expect.poll(() => footer.textContent()).toMatch(/height 1,640,003 · (now|\d+ s ago)/);
  });

  test('goes to each page by its link, by its URL, and back and forward', async () => {
    const { page, gateway } = await browser.open('/', { gateway: shared() });
    const isShown = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
    for (const [name, path] of PAGES.slice(1)) {
      await page.getByRole('link', { name, exact: true }).click();
      await isShown(name);
      await expect.poll(() => new URL(page.url()).pathname).toBe(path);
      await expect.poll(() => page.title()).toBe(`${name} · pdex-gateway`);
      await expect.poll(() => page.locator('nav [aria-current=page]').allTextContents()).toEqual([name]);
    }
    await page.goBack();
    await isShown('Tokens');
    await page.goForward();
    await isShown('Status');
    await page.reload();
    await isShown('Status');
    expect(page.url()).toBe(new URL('/status', gateway.url).href);
  });

  test('loads its first page in few files, and requests the status of the gateway once for all pages', async () => {
    const requests: Request[] = [];
    const isStatus = (request: Request) => request.postData()?.includes('"operationName":"Service"') ?? false;
    const { page } = await browser.open('/', {
      gateway: shared(),
      // Without the requests that repeat, and without the files that are loaded ahead after a while.
      initScript: () => {
        const { setInterval, setTimeout } = globalThis;
        Object.assign(globalThis, {
          setInterval: (run: () => void, ms: number) => (ms < 5_000 ? setInterval(run, ms) : 0),
          setTimeout: (run: () => void, ms?: number) => (ms !== undefined && ms >= 1_500 ? 0 : setTimeout(run, ms)),
        });
      },
      before: async (page) => {
        page.on('request', (request) => requests.push(request));
        // The page comes when the shell has the status.
        const answered = page.waitForResponse((response) => isStatus(response.request()));
        await page.route('**/assets/markets-page-*.js', async (route) => {
          await answered;
          await route.continue();
        });
      },
    });
    await page.getByRole('rowheader').first().waitFor();
    const firstList = requests.findIndex((request) => request.postData()?.includes('"operationName":"Markets"'));
    const files = requests.slice(0, firstList).filter((request) => request.url().includes('/assets/'));
    expect([files.length > 2, files.length < 12]).toEqual([true, true]);

    for (const [name] of PAGES.slice(1)) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
    }
    expect(requests.filter(isStatus)).toHaveLength(1);
  });

  test('has a description, a preview, icons and a manifest, whose files are there', async () => {
    const { page, gateway } = await browser.open('/', { gateway: shared() });
    const head = page.locator('head');
    const read = (selector: string, name: string) =>
      head.locator(selector).evaluateAll((all, name) => all.map((element) => element.getAttribute(name) ?? ''), name);
    const [description = '', title, image, width, height] = await read(
      'meta[name=description], meta[property^="og:"]:not([property$=type], [property$=name], [property$=description])',
      'content',
    );
    expect(description.length).toBeGreaterThan(50);
    expect([title, image, width, height]).toEqual(['pdex-gateway', '/preview.png', '1200', '630']);
    const typeOf = async (path: string) => {
      const { status, headers } = await fetch(new URL(path, gateway.url));
      return [status, headers.get('content-type')];
    };
    const manifest = await (await fetch(new URL('/manifest.webmanifest', gateway.url))).json();
    const icons = manifest.icons.map(({ src }: { src: string }) => src);
    const paths = [
      ...(await read('link[rel=icon], link[rel=apple-touch-icon], link[rel=manifest]', 'href')),
      '/preview.png',
      '/robots.txt',
      ...icons,
    ];
    expect(await Promise.all(paths.map(typeOf))).toEqual([
      [200, 'image/x-icon'],
      [200, 'image/svg+xml'],
      [200, 'image/png'],
      [200, 'application/manifest+json'],
      [200, 'image/png'],
      [200, 'text/plain; charset=utf-8'],
      [200, 'image/png'],
      [200, 'image/png'],
    ]);
  });

  test('says that nothing is at an unknown path', async () => {
    const { page } = await browser.open('/no/such/page', { gateway: shared(), allowed: [/404/] });
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found');
    // As the status of the response says.
    await page.goto(new URL('/Market/pBTC_PRV', page.url()).href);
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found');
    await page.getByRole('link', { name: 'All markets' }).click();
    await page.getByRole('heading', { level: 1, name: 'Markets' }).waitFor();
  });

  test('can be used with the keyboard', async () => {
    const { page } = await browser.open('/', { gateway: shared() });
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to the content' });
    expect(await skip.evaluate((link) => link.matches(':focus'))).toBe(true);
    await expect.poll(async () => (await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    await page.locator('main:focus').waitFor();

    await page.getByRole('link', { name: 'Chain', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.locator('h1:focus', { hasText: 'Chain' }).waitFor();
  });

  test('gives the focus to the heading of each page, also when its data comes, and on the way back to the first one', async () => {
    const { page } = await browser.open('/', { gateway: shared() });
    const row = (place: number) => page.getByRole('rowheader').getByRole('link').nth(place);
    await row(0).waitFor();
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
    for (const place of [0, 1]) {
      await row(place).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Show the query: Market' }).waitFor();
      await page.locator('h1:focus', { hasText: '/' }).waitFor();
      await page.goBack();
      await page.locator('h1:focus', { hasText: 'Markets' }).waitFor();
    }
    await page.goForward();
    await page.getByRole('link', { name: 'Show the query: Market' }).waitFor();
    await page.locator('h1:focus', { hasText: '/' }).waitFor();
    // A field keeps the focus that a reader has given it.
    const amount = page.getByLabel('You pay');
    await amount.fill('1');
    await expect.poll(() => new URL(page.url()).searchParams.get('pay')).toBe('1');
    expect(await amount.evaluate((field) => field.matches(':focus'))).toBe(true);
  });

  test('is light or dark as the reader chooses, also in the next visit', async () => {
    const { page } = await browser.open('/', { gateway: shared(), colorScheme: 'dark' });
    const scheme = async () => {
      const colour = await page.locator('html').evaluate((html) => getComputedStyle(html).backgroundColor);
      return Number(/\d+/.exec(colour)?.[0]) > 127 ? 'light' : 'dark';
    };
    // The bars of a phone's browser have the colour of the header.
    const barColour = () =>
      page
        .locator('meta[name=theme-color]')
        .evaluateAll((all) =>
          (all as HTMLMetaElement[]).filter(({ media }) => matchMedia(media).matches).map(({ content }) => content),
        );
    expect(await scheme()).toBe('dark');
    expect(await barColour()).toEqual(['#131922']);
    await page.getByTitle('Light').click();
    expect(await barColour()).toEqual(['#ffffff']);
    expect(await scheme()).toBe('light');
    await page.reload();
    await page.locator('h1').waitFor();
    expect(await scheme()).toBe('light');
    await page.getByTitle('System').click();
    expect(await scheme()).toBe('dark');
    expect(await barColour()).toEqual(['#131922']);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(scheme).toBe('light');
  });

  // The page of the markets has a test of the rest, light and dark.
  test('has its links on the screen of a phone, targets that a finger hits, and fields that a phone does not enlarge', async () => {
    const context = { hasTouch: true, isMobile: true };
    const { page } = await browser.open('/', { gateway: shared(), viewport: 'phone', context });
    await page.getByRole('rowheader').first().waitFor();
    const { width } = VIEWPORTS.phone;
    for (const [name] of PAGES) {
      const { x = -1, width: ownWidth = 0 } = (await page.getByRole('link', { name, exact: true }).boundingBox()) ?? {};
      expect([name, x >= 0, x + ownWidth <= width]).toEqual([name, true, true]);
    }
    const search = page.getByRole('searchbox');
    expect(
      await search.evaluate((field) => Number.parseFloat(getComputedStyle(field).fontSize)),
    ).toBeGreaterThanOrEqual(16);
    const targets = [
      search,
      ...(await page.getByRole('tab').all()),
      page.getByTitle('Dark'),
      page.getByRole('link', { name: 'GraphiQL' }),
    ];
    for (const target of targets) expect((await target.boundingBox())?.height).toBeGreaterThanOrEqual(36);
    const home = await page.getByRole('link', { name: 'pdex-gateway, home' }).boundingBox();
    expect(home?.width).toBeGreaterThanOrEqual(36);
    await page.getByRole('tab', { name: 'All pools' }).tap();
    await page.getByRole('tab', { name: 'All pools', selected: true }).waitFor();
  });
});
