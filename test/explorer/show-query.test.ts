import { Kind, parse, visit } from 'graphql';
import { expect, test } from 'vitest';
import { readLink } from '../../explorer/src/graphiql/link.ts';
import { createStoreModel } from '../history/store-model.ts';
import { describeInBrowser, untilHeight } from '../support/explorer.ts';

describeInBrowser('“Show the query”', (browser) => {
  const shared = browser.share(() => ({ store: createStoreModel() }));

  test.each(['/', '/market/pBTC_PRV', '/chain', '/tokens', '/status'])(
    'has the documents of %s, with their variables and no fragment that they do not use',
    async (path) => {
      const { page, gateway } = await browser.open(path, { gateway: shared() });
      await untilHeight(page, gateway.sandbox.chain.tip.height);
      const links = page.getByRole('link', { name: /^Show the query/ });
      await links.first().waitFor();
      for (const link of await links.all()) {
        const url = new URL((await link.getAttribute('href')) ?? '', gateway.url);
        const { query = '', variables, run } = readLink(url) ?? {};
        expect([url.pathname, run, unusedFragments(query)]).toEqual(['/graphql', true, []]);
        // nginx accepts lines of 8 KB.
        expect(url.search.length).toBeLessThan(8_000);
        expect(query).toMatch(/^(query|subscription) \w+.* \{\n {2}\w/);
        if (query.startsWith('subscription')) continue;
        const answer = await gateway.ask(query, JSON.parse(variables ?? '{}'));
        expect([await link.getAttribute('aria-label'), answer.errors]).toEqual([expect.any(String), undefined]);
      }
    },
  );

  test('opens GraphiQL next to the page', async () => {
    const { page } = await browser.open('/chain', { gateway: shared() });
    // GraphiQL has tests of its own: it runs the query of its URL.
    const isPage = (url: URL) => url.pathname === '/graphql';
    await page
      .context()
      .route(isPage, (route, request) =>
        request.isNavigationRequest() ? route.fulfill({ body: 'GraphiQL' }) : route.fallback(),
      );
    const opened = page.waitForEvent('popup');
    await page
      .getByRole('link', { name: /^Show the query/ })
      .first()
      .click();
    await (await opened).waitForURL(/\/graphql\?query=query\+.*#run$/);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Chain');
  });
});

function unusedFragments(query: string): readonly string[] {
  const used = new Set<string>();
  const document = parse(query);
  visit(document, { FragmentSpread: ({ name }) => void used.add(name.value) });
  return document.definitions.flatMap((definition) =>
    definition.kind === Kind.FRAGMENT_DEFINITION && !used.has(definition.name.value) ? [definition.name.value] : [],
  );
}
