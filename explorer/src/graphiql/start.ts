import { type Linked, readLink, toParameters } from './link.ts';
import { EXAMPLE_TABS, type ExampleTab } from './tabs.ts';

// Starts GraphiQL on its page. `graphiql-page.ts` puts this file into the page, below the code of GraphiQL.

declare const YogaGraphiQL: {
  readonly renderYogaGraphiQL: (element: Element | null, options: object) => void;
};

/** A tab as GraphiQL stores it. */
type Tab = {
  readonly query: string | null;
  readonly variables?: string | null;
  readonly headers?: string | null;
};

type TabState = { readonly tabs: Tab[]; activeTabIndex: number };

/** Where GraphiQL stores its tabs. */
const STORED_TABS = 'graphiql:tabState';

/** What the page shows of its gateway. */
const ABOUT = '{ beaconHeight service { sandbox } }';

/** GraphiQL also starts without the answer. */
const MAX_WAIT_MS = 3_000;

/** A browser refuses to change the address hundreds of times in a few seconds. */
const ADDRESS_DELAY_MS = 300;

let addressTimer: ReturnType<typeof setTimeout> | undefined;
let hasRun = false;

const linked = readLink(location);
if (location.hash === '#docs') {
  withStorage((storage) => storage.setItem('graphiql:visiblePlugin', 'Documentation Explorer'));
}
// GraphiQL would read the search itself.
history.replaceState(null, '', location.pathname);
// The user has pasted another link into the address. The link of a tab that was chosen just before does not replace it.
addEventListener('hashchange', ({ newURL }) => {
  clearTimeout(addressTimer);
  history.replaceState(null, '', newURL);
  location.reload();
});

const stored = readStoredTabs();
const { newestHeight, isSandbox } = await askGateway();
const state = stored ? withLinked(stored) : { tabs: firstTabs(), activeTabIndex: 0 };
const active = state.tabs[state.activeTabIndex];
// GraphiQL would open one more tab, unless the initial query, variables and headers are exactly those of a stored tab.
if (stored) withStorage((storage) => storage.setItem(STORED_TABS, JSON.stringify(state)));
for (const name of ['query', 'variables', 'headers']) withStorage((storage) => storage.removeItem(`graphiql:${name}`));
document.title = isSandbox ? 'pdex-gateway (sandbox)' : 'pdex-gateway';

YogaGraphiQL.renderYogaGraphiQL(document.getElementById('root'), {
  title: document.title,
  // With null, GraphiQL stores nothing. By default, it uses the storage of the browser, and fails if that is blocked.
  storage: withStorage(() => true) ? undefined : null,
  subscriptionsProtocol: 'WS',
  // Each result shows what its operation costs.
  additionalHeaders: { 'x-pdex-cost': '1' },
  defaultTabs: state.tabs,
  query: active?.query ?? '',
  variables: active?.variables ?? '',
  initialHeaders: active?.headers ?? '',
  // GraphiQL would write the query into the address, without its variables.
  onEditQuery() {},
  onTabChange: ({ tabs, activeTabIndex }: TabState) => showTab(tabs[activeTabIndex]),
  onSchemaChange: runLinked,
});
showTab(active);

/** The tabs of a new visitor. */
function firstTabs(): Tab[] {
  return [...(linked ? [toTab(linked)] : []), ...EXAMPLE_TABS.map(exampleTab)];
}

/** The stored tabs, of which the one with the linked query is active. */
function withLinked(stored: TabState): TabState {
  if (linked === undefined) return stored;
  const tab = toTab(linked);
  // The URL of a tab that was edited has the variables as they were typed.
  const texts = [linked.variables ?? '', tab.variables ?? ''];
  const isSame = (other: Tab) => other.query === tab.query && texts.includes(other.variables ?? '');
  const index = stored.tabs.findIndex(isSame);
  const tabs = index === -1 ? [...stored.tabs, tab] : stored.tabs;
  return { ...stored, tabs, activeTabIndex: index === -1 ? stored.tabs.length : index };
}

/** With all members that GraphiQL requires of a stored tab. */
function toTab({ query, variables }: Linked) {
  const operationName = /^(?!#).*(?:query|subscription)\s+([a-zA-Z0-9_]+)/m.exec(query)?.[1] ?? null;
  const id = String(Math.random()).slice(2);
  const title = operationName ?? '<untitled>';
  return { id, title, query, variables: indented(variables), headers: null, operationName, response: null };
}

function indented(json: string | null | undefined): string | null {
  try {
    return json ? JSON.stringify(JSON.parse(json), null, 2) : null;
  } catch {
    return json ?? null;
  }
}

function exampleTab({ query, variables, heightsBack, minutesBack }: ExampleTab): Tab {
  const all = {
    ...variables,
    ...(heightsBack && newestHeight && { height: newestHeight - heightsBack }),
    ...(minutesBack && { time: new Date(toMinute(Date.now()) - minutesBack * 60_000).toISOString() }),
  };
  return Object.keys(all).length > 0 ? { query, variables: JSON.stringify(all, null, 2) } : { query };
}

function toMinute(time: number): number {
  return time - (time % 60_000);
}

function readStoredTabs(): TabState | undefined {
  const stored = withStorage((storage) => JSON.parse(storage.getItem(STORED_TABS) ?? ''));
  if (stored?.tabs?.[stored.activeTabIndex]) return stored;
  withStorage((storage) => storage.removeItem(STORED_TABS));
  return undefined;
}

/** Uses the storage of the browser. @returns `undefined` if it is blocked or full, or if its content cannot be read */
function withStorage<Result>(use: (storage: Storage) => Result): Result | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}

/** Reads what the tabs and the title depend on; nothing if the gateway does not answer. */
async function askGateway(): Promise<{ newestHeight?: number | null; isSandbox?: boolean }> {
  try {
    const response = await fetch(location.pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: ABOUT }),
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    });
    const { data } = await response.json();
    return { newestHeight: data.beaconHeight, isSandbox: data.service.sandbox };
  } catch {
    return {};
  }
}

/** Scrolls the active tab into view, and writes a link to its query into the address. */
function showTab(tab: Tab | undefined): void {
  requestAnimationFrame(scrollToActiveTab);
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => {
    const fragment = tab?.query ? `#${toParameters({ query: tab.query, variables: tab.variables })}` : '';
    if (location.hash !== fragment) history.replaceState(null, '', location.pathname + fragment);
  }, ADDRESS_DELAY_MS);
}

function scrollToActiveTab(): void {
  const tab = document.querySelector('.graphiql-tab-active');
  if (tab) tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  else requestAnimationFrame(scrollToActiveTab);
}

/** Runs the linked query, once, if its link says so. A link can do no harm: the schema has no mutations. */
function runLinked(): void {
  if (!linked?.run || hasRun) return;
  hasRun = true;
  requestAnimationFrame(() => document.querySelector<HTMLElement>('.graphiql-execute-button')?.click());
}
