// @ts-nocheck This runs in the browser; the project has no types of browsers.

/**
 * GraphiQL's options with which it starts: with the query of the URL, or else with the tab that was active last. With
 * `#docs` in the URL its documentation is open.
 *
 * GraphiQL keeps its tabs in `localStorage`, and opens one more at a reload unless the query, variables and headers that it
 * starts with are exactly those of a tab. It would also write each edited query, without its variables, into the URL.
 */
export async function withStart(options) {
  const linked = tabOf(new URL(location.href).searchParams);
  if (location.hash === '#docs') localStorage.setItem('graphiql:visiblePlugin', 'Documentation Explorer');
  history.replaceState(null, '', location.pathname);

  const kept = readKeptTabs();
  if (kept && linked) {
    const place = kept.tabs.findIndex((tab) => tab.query === linked.query && isSame(tab.variables, linked.variables));
    kept.activeTabIndex = place === -1 ? kept.tabs.push(linked) - 1 : place;
    localStorage.setItem(KEPT_TABS, JSON.stringify(kept));
  }

  const defaultTabs = kept ? options.defaultTabs : [...(linked ? [linked] : []), ...(await withHeights(options))];
  const { query, variables, headers } = kept ? kept.tabs[kept.activeTabIndex] : defaultTabs[0];
  for (const name of ['query', 'variables', 'headers']) localStorage.removeItem(`graphiql:${name}`);

  return {
    ...options,
    defaultTabs,
    query: query ?? '',
    variables: variables ?? '',
    initialHeaders: headers ?? '',
    onEditQuery() {},
  };
}

const KEPT_TABS = 'graphiql:tabState';

function tabOf(parameters) {
  const query = parameters.get('query');
  if (!query) return undefined;
  const operationName = /^(?!#).*(query|subscription|mutation)\s+([a-zA-Z0-9_]+)/m.exec(query)?.[2] ?? null;
  const variables = indented(parameters.get('variables'));
  const title = operationName ?? '<untitled>';
  return { id: String(Math.random()).slice(2), title, query, variables, headers: null, operationName, response: null };
}

function indented(json) {
  try {
    return json ? JSON.stringify(JSON.parse(json), null, 2) : null;
  } catch {
    return json;
  }
}

function isSame(variables, others) {
  return (variables ?? '') === (others ?? '');
}

function readKeptTabs() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT_TABS));
    if (kept.tabs[kept.activeTabIndex]) return kept;
  } catch {}
  localStorage.removeItem(KEPT_TABS);
  return undefined;
}

// A tab that reads an earlier height gets one that this gateway can read: so many blocks below the newest.
async function withHeights({ defaultTabs }) {
  const newest = await newestHeight().catch(() => undefined);
  return defaultTabs.map(({ heightsBack, ...tab }) =>
    heightsBack && newest ? { ...tab, variables: indented(JSON.stringify({ height: newest - heightsBack })) } : tab,
  );
}

async function newestHeight() {
  const response = await fetch(location.pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ beaconHeight }' }),
  });
  return (await response.json()).data.beaconHeight;
}
