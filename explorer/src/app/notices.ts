import type { ConnectionState } from '../client/connection.ts';
import { formatSince, parseTime } from '../format/times.ts';
import { UPSTREAM_FAILURES, UPSTREAM_NAMES } from '../parts/error-text.ts';
import type { ServiceStatus } from './service-status.ts';

/** A line of the banner. Equal notices have equal texts: a text never counts seconds, because screen readers read it out. */
export type Notice = {
  readonly key: string;
  readonly tone: 'information' | 'warning' | 'danger';
  readonly title: string;
  readonly text: string;
};

type NoticeInput = {
  readonly connection: ConnectionState;
  /** The status of the last response over HTTP. */
  readonly status: number | undefined;
  readonly service: ServiceStatus | undefined;
  /** When the page began again with another chain, by the clock of this computer. */
  readonly beganAgainAt: number | undefined;
  /** The clock of this computer. */
  readonly now: number;
};

const BEGAN_AGAIN_SHOWN_MS = 30_000;

/** What has happened that a reader has to know before believing the numbers, the most urgent first. */
export function noticesOf({ connection, status, service, beganAgainAt, now }: NoticeInput): readonly Notice[] {
  const notices: Notice[] = [];
  if (status === 403) {
    notices.push({
      key: 'refused',
      tone: 'danger',
      title: 'Refused',
      text: 'The requests of this page are refused with status 403. A proxy in front of the gateway must forward the Host header, or CORS_ORIGINS must list the origin of this page.',
    });
  } else if (connection.name === 'reconnecting' || connection.name === 'disconnected') {
    const since = formatSince(connection.since, now);
    notices.push({
      key: connection.name,
      tone: connection.name === 'disconnected' ? 'danger' : 'warning',
      title: connection.name === 'disconnected' ? 'Disconnected' : 'Reconnecting',
      text: `The page has not reached the gateway since ${since}. It shows the data from then, and tries again by itself.`,
    });
  }
  if (connection.name === 'connected' && connection.over === 'event-streams') {
    notices.push({
      key: 'no-websocket',
      tone: 'information',
      title: 'No websocket',
      text: 'The page receives live data over event streams, because it cannot open a websocket: a proxy may block websockets or not forward the Host header, or the gateway or the connection is slow. It tries again every minute.',
    });
  }
  if (beganAgainAt !== undefined && now - beganAgainAt < BEGAN_AGAIN_SHOWN_MS) {
    notices.push({
      key: 'began-again',
      tone: 'warning',
      title: 'The chain has changed',
      text: 'The gateway shows another chain or a much lower height than before. The page has loaded all data again.',
    });
  }
  if (service !== undefined) notices.push(...staleNotices(service, now));
  if (service?.historyStatus === 'UNAVAILABLE') {
    notices.push({
      key: 'history',
      tone: 'information',
      title: 'History unavailable',
      text: 'The database of recorded prices cannot be used now. Live prices are not affected.',
    });
  }
  return notices;
}

const SHOWS = { NODE: 'Pools, swaps and the chain', MARKET_DATA: 'Markets, last prices and order books' } as const;

/** What a reader has to know as long as the gateway runs. */
const LASTING: readonly (Notice & { readonly key: LastingKey })[] = [
  notConfigured('NODE'),
  notConfigured('MARKET_DATA'),
  {
    key: 'history',
    tone: 'information',
    title: 'No history',
    text: 'This gateway records no prices, so there are no candles, sparklines or price changes.',
  },
  {
    key: 'sandbox',
    tone: 'information',
    title: 'Sandbox',
    text: 'A simulated chain and market. No price is real.',
  },
];

type LastingKey = 'NODE' | 'MARKET_DATA' | 'history' | 'sandbox';

/**
 * The lines that are there as long as the gateway runs.
 *
 * @param served the keys that the page was served with, separated by spaces: it is drawn with these lines at first
 */
export function lastingNotices(service: ServiceStatus | undefined, served: string): readonly Notice[] {
  const keys = lastingKeys(service, served);
  return LASTING.filter(({ key }) => keys.includes(key));
}

/** What a gateway lacks or is, as long as it runs: the keys of those lines. */
export function lastingKeys(service: ServiceStatus | undefined, served: string): readonly string[] {
  if (service === undefined) return served.split(' ');
  const { upstreams, historyStatus, sandbox } = service;
  const missing = upstreams.filter(({ configured }) => !configured).map(({ upstream }) => upstream);
  return [...missing, historyStatus === 'OFF' ? 'history' : '', sandbox ? 'sandbox' : ''];
}

/** Whether prices are recorded; undefined until the gateway has said so, and while they cannot be read. */
export function hasHistoryOf(service: ServiceStatus | undefined, served: string): boolean | undefined {
  if (lastingKeys(service, served).includes('history')) return false;
  return service?.historyStatus === 'RECORDING' ? true : undefined;
}

/** Whether lists can be sorted by changes of prices: not while these cannot be read. True until the gateway has said it. */
export function canSortByChangeOf(service: ServiceStatus | undefined, served: string): boolean {
  return hasHistoryOf(service, served) ?? service === undefined;
}

function notConfigured(upstream: 'NODE' | 'MARKET_DATA') {
  const name = UPSTREAM_NAMES[upstream];
  return {
    key: upstream,
    tone: 'information',
    title: `No ${name}`,
    text: `This gateway runs without a ${name}. ${SHOWS[upstream]} are not available.`,
  } as const;
}

function staleNotices(service: ServiceStatus, now: number): Notice[] {
  return service.upstreams.flatMap(({ upstream, configured, healthy, lastSuccessAt, lastErrorCode }): Notice[] => {
    if (!configured) return [];
    const name = UPSTREAM_NAMES[upstream];
    const reading = upstream === 'NODE' ? service.head : service.marketData;
    if (reading !== null && !reading.stale) return [];
    // A gateway that has just started has not read everything yet.
    if (reading === null && lastErrorCode === null) return [];
    const since = parseTime(reading?.observedAt ?? lastSuccessAt);
    const sinceText = since === undefined ? '' : ` since ${formatSince(since, now)}`;
    return [
      {
        key: `${upstream}-stale`,
        tone: 'warning',
        title: upstream === 'NODE' ? 'Chain data is stale' : 'Market data is stale',
        text: healthy
          ? `The ${name} responds, but has sent nothing new${sinceText}.`
          : `The ${name} cannot be read${sinceText}${reason(lastErrorCode)}. ${SHOWS[upstream]} are not updated.`,
      },
    ];
  });
}

function reason(code: string | null): string {
  const words = UPSTREAM_FAILURES.get(code ?? '');
  return words === undefined ? '' : `: it ${words}`;
}
