// @ts-nocheck This runs in the browser; the project has no types of browsers.

/**
 * The options that GraphiQL starts with. It opens the query of the URL, or the tab that was active last. `#docs` in the URL
 * opens the documentation panel.
 *
 * GraphiQL stores its tabs in `localStorage`. At a reload it would open one more tab, unless the initial query, variables and
 * headers are exactly those of a stored tab. It would also write each edited query, without its variables, into the URL.
 */
export async function toStartOptions(options) {
  const linked = tabOf(new URL(location.href).searchParams);
  if (location.hash === '#docs') localStorage.setItem('graphiql:visiblePlugin', 'Documentation Explorer');
  history.replaceState(null, '', location.pathname);

  const stored = readStoredTabs();
  if (stored && linked) {
    const index = stored.tabs.findIndex((tab) => tab.query === linked.query && isSame(tab.variables, linked.variables));
    stored.activeTabIndex = index === -1 ? stored.tabs.push(linked) - 1 : index;
    localStorage.setItem(STORED_TABS, JSON.stringify(stored));
  }

  const defaultTabs = stored ? options.defaultTabs : [...(linked ? [linked] : []), ...(await withVariables(options))];
  const { query, variables, headers } = stored ? stored.tabs[stored.activeTabIndex] : defaultTabs[0];
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

const STORED_TABS = 'graphiql:tabState';

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

function readStoredTabs() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED_TABS));
    if (stored.tabs[stored.activeTabIndex]) return stored;
  } catch {}
  localStorage.removeItem(STORED_TABS);
  return undefined;
}

// Sets the variables of tabs with `heightsBack`, relative to the newest height of this gateway, and with `minutesBack`.
async function withVariables({ defaultTabs }) {
  const newest = await newestHeight().catch(() => undefined);
  return defaultTabs.map(({ heightsBack, minutesBack, ...tab }) => {
    if (heightsBack && newest) return { ...tab, variables: toJson({ height: newest - heightsBack }) };
    if (minutesBack) return { ...tab, variables: toJson({ time: toMinute(Date.now() - minutesBack * 60_000) }) };
    return tab;
  });
}

function toJson(variables) {
  return JSON.stringify(variables, null, 2);
}

function toMinute(time) {
  return new Date(time - (time % 60_000)).toISOString();
}

async function newestHeight() {
  const response = await fetch(location.pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ beaconHeight }' }),
  });
  return (await response.json()).data.beaconHeight;
}
