import type { ConnectionState } from '../../client/connection.ts';
import { useConnectionState } from '../../client/hooks.ts';
import type { Transport } from '../../client/transports.ts';
import { formatInteger } from '../../format/numbers.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { StateBadge, type Tone } from './state-badge.tsx';
import type { StatusQuery } from './status.generated.ts';
import styles from './status.module.css';
import { explainUpstream } from './upstream-table.tsx';

type Service = StatusQuery['service'];

/** Whether updates arrive at this page, and how. The page knows it without an answer. */
export function ConnectionList() {
  return (
    <ul className={styles.kinds}>
      <Kind name="This page" {...connectionOf(useConnectionState())} />
    </ul>
  );
}

/** How fresh the three kinds of data are, and why one is not. */
export function FreshnessList({ service }: { readonly service: Service }) {
  const { head, marketData, upstreams, historyStatus, fleet } = service;
  const node = upstreams.find(({ upstream }) => upstream === 'NODE');
  const host = upstreams.find(({ upstream }) => upstream === 'MARKET_DATA');
  return (
    <ul className={styles.kinds}>
      <Kind name="Chain" {...readingOf(head, node)}>
        {head && (
          <>
            <span>{`height ${formatInteger(head.beaconHeight)}, block`}</span> <RelativeTime time={head.time} />
            <span>, read</span> <RelativeTime time={head.observedAt} />
            <span>.</span>
          </>
        )}
      </Kind>
      <Kind name="Market data" {...readingOf(marketData, host)}>
        {marketData && (
          <>
            <span>read</span> <RelativeTime time={marketData.observedAt} />
            <span>.</span>
          </>
        )}
      </Kind>
      <Kind name="History" {...HISTORY[historyStatus]} />
      {fleet && <Kind name="Fleet" {...fleetState(fleet)} />}
    </ul>
  );
}

type KindProps = State & { readonly name: string; readonly children?: React.ReactNode };
type State = { readonly tone: Tone; readonly state: string; readonly why?: string };

function Kind({ name, tone, state, why, children }: KindProps) {
  return (
    <li className={styles.kind}>
      <span className={styles.kindName}>{name}</span>
      <StateBadge tone={tone}>{state}</StateBadge>
      <span className={styles.detail}>
        {children}
        {why !== undefined && <span>{` ${why}`}</span>}
      </span>
    </li>
  );
}

const HISTORY: Readonly<Record<Service['historyStatus'], State>> = {
  RECORDING: { tone: 'good', state: 'recording' },
  OFF: { tone: 'neutral', state: 'off', why: 'This gateway records no prices.' },
  UNAVAILABLE: {
    tone: 'bad',
    state: 'unavailable',
    why: 'Its database cannot be used now. Live data is not affected.',
  },
};

function fleetState({ replicas, connected }: NonNullable<Service['fleet']>): State {
  if (connected) return { tone: 'good', state: 'connected', why: `${replicas} gateways read the upstreams together.` };
  return { tone: 'warning', state: 'alone', why: 'This gateway cannot use Redis, and reads the upstreams itself.' };
}

const ARRIVAL: Readonly<Record<Transport, string>> = {
  websocket: 'Updates arrive over one websocket.',
  'event-streams': 'Updates arrive over event streams, because the page cannot open a websocket.',
};

function connectionOf(connection: ConnectionState): State {
  const { name } = connection;
  if (name === 'connected') return { tone: 'good', state: 'connected', why: ARRIVAL[connection.over] };
  if (name === 'disconnected') return { tone: 'bad', state: 'disconnected', why: 'The page tries again by itself.' };
  return { tone: 'warning', state: name };
}

/** Why data that was read is stale, or why there is none. */
function readingOf(
  reading: { readonly stale: boolean } | null,
  upstream: Service['upstreams'][number] | undefined,
): State {
  if (upstream?.configured === false) return { tone: 'neutral', state: 'not configured' };
  if (reading === null) return { tone: 'warning', state: 'not read yet' };
  if (!reading.stale) return { tone: 'good', state: 'fresh' };
  return { tone: 'bad', state: 'stale', why: whyStale(upstream) };
}

function whyStale(upstream: Service['upstreams'][number] | undefined): string {
  if (upstream?.healthy) return 'The upstream responds, but sends nothing new.';
  return upstream?.lastErrorCode ? `${explainUpstream(upstream)}.` : 'The upstream cannot be read.';
}
