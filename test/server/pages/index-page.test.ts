import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasBrowser, newPage } from '../../support/browser.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../../support/gateway.ts';

const BROWSER_HEADERS = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate' };

/** Node's own fetch would send headers of a page's request. */
async function read(url: string, headers: Record<string, string>) {
  const { statusCode: status, headers: answered, body } = await request(url, { headers });
  return { status, type: answered['content-type'], text: await body.text() };
}

async function open(options?: TestGatewayOptions) {
  const { app, untilReady } = await startGatewayForTest(options);
  const { origin } = new URL(await app.listen(0, '127.0.0.1'));
  return { app, origin, untilReady, get: (headers: Record<string, string> = {}) => read(`${origin}/`, headers) };
}

describe('the index', () => {
  test('is JSON for programs, with links that work', async () => {
    const { app, origin, untilReady, get } = await open();
    const answer = await get();
    expect(answer.type).toBe('application/json');
    const index = JSON.parse(answer.text);
    expect(index).toEqual({
      name: 'pdex-gateway',
      version: app.service.version,
      sandbox: true,
      graphql: '/graphql',
      links: {
        graphiql: '/graphql',
        documentation: '/graphql#docs',
        schema: '/schema.graphql',
        rest: '/openapi.json',
        health: '/health',
        readiness: '/ready',
      },
    });
    await untilReady();
    for (const path of Object.values<string>(index.links)) {
      expect([path, (await read(origin + path, BROWSER_HEADERS)).status]).toEqual([path, 200]);
    }
  });

  test('is a page for browsers, with the same links', async () => {
    const { get } = await open();
    const { links } = JSON.parse((await get()).text);
    const { type, text } = await get(BROWSER_HEADERS);
    expect(type).toBe('text/html; charset=utf-8');
    for (const path of Object.values<string>(links)) expect(text).toContain(`href="${path.slice(1)}"`);
    expect(text).toContain('This is the sandbox: all data is simulated.');
  });

  test('does not link to GraphiQL if that is off', async () => {
    const { get } = await open({ config: { graphiql: false } });
    const { links } = JSON.parse((await get()).text);
    expect(Object.keys(links)).toEqual(['schema', 'rest', 'health', 'readiness']);
    expect((await get(BROWSER_HEADERS)).text).not.toContain('GraphiQL');
  });

  test('says in a browser that the explorer is not built, and how to build it', async () => {
    const { get } = await open({ explorer: 'not built' });
    const { status, text } = await get(BROWSER_HEADERS);
    expect(status).toBe(200);
    expect(text).toContain('The explorer is not built. Run “npm ci && npm run build -w explorer”, and start');
    expect(JSON.parse((await get()).text).links).not.toHaveProperty('explorer');
  });

  test('accepts no operations, and names the endpoint for them', async () => {
    const { origin } = await open();
    const headers = { 'content-type': 'application/json' };
    const posted = await fetch(`${origin}/`, { method: 'POST', headers, body: '{"query":"{ beaconHeight }"}' });
    expect([posted.status, await posted.text()]).toEqual([
      405,
      'Send a GET, HEAD or OPTIONS request. The GraphQL endpoint is /graphql.\n',
    ]);
  });
});

describe.skipIf(!hasBrowser)('the index in a browser', () => {
  test('loads nothing from other hosts, is readable in light and dark, fits a phone, and leads to GraphiQL by keyboard', async () => {
    const { origin } = await open();
    const page = await newPage({ viewport: { width: 320, height: 640 } });
    onTestFinished(() => page.context().close());
    const asked: string[] = [];
    const errors: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));

    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${origin}/`);
      expect(await page.evaluate(LOWEST_CONTRAST)).toBeGreaterThan(4.5);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    }
    expect([asked.filter((url) => !/^data:/.test(url)), errors]).toEqual([[`${origin}/`, `${origin}/`], []]);
    expect(await page.evaluate('[document.documentElement.lang, document.querySelectorAll("main h1").length]')).toEqual(
      ['en', 1],
    );

    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/graphql`, { waitUntil: 'commit' });
  });
});

/** The lowest contrast of a text with its background, as WCAG defines it. */
const LOWEST_CONTRAST = `
  (() => {
    const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
    const luminance = (color) => {
      const [r, g, b] = parse(color).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
      const color = getComputedStyle(element).backgroundColor;
      return parse(color)[3] === 0 && element.parentElement ? behind(element.parentElement) : color;
    };
    const contrasts = [...document.querySelectorAll('h1, p, a, li, footer, code')].map((element) => {
      const [low, high] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    });
    return Math.min(...contrasts);
  })()
`;
