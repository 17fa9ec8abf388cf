import { type BeaconHeight, parseBeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { Upstream } from '../errors.ts';
import type { FleetStatus } from '../fleet/fleet.ts';
import type { Head } from '../live/chain/head.ts';
import { Loaders } from '../loaders/loaders.ts';
import type { Sources } from '../loaders/sources.ts';
import type { Requester } from '../turns/fair-queue.ts';
import type { UpstreamHealth } from '../upstream/health.ts';
import type { AddressLimits, Limits } from './limits.ts';

/** The gateway, as resolvers see it. */
export type Service = {
  readonly version: string;
  /** Whether the built-in sandbox simulates the upstreams. */
  readonly isSandbox: boolean;
  readonly limits: Limits & AddressLimits;
  readonly sources: Sources;
  readonly now: () => Instant;
  /** Whether each upstream is configured. */
  readonly configured: Readonly<Record<Upstream, boolean>>;
  upstreams(): readonly UpstreamHealth[];
  /** How the gateway takes part in its fleet; `undefined` if it is alone. */
  readonly fleet?: (() => FleetStatus) | undefined;
};

/** The GraphQL context of one operation, or of one update of a subscription. */
export type Context = {
  readonly service: Service;
  readonly loaders: Loaders;
};

/** What a context contains beside the gateway. */
type ContextOptions = {
  /** The client whose share of the upstreams is used. By default, the operation is a client of its own. */
  readonly client?: Requester['client'] | undefined;
  /** The header `Last-Event-ID`. If it is a height, subscriptions that can resume do so after it. */
  readonly lastEventId?: string | undefined;
  /** The head that the response describes. By default, the one that is current when a field first needs it. */
  readonly head?: Head | undefined;
};

/** Creates the context of one response. */
export function createContext(service: Service, { client, lastEventId, head }: ContextOptions = {}): Context {
  const requester: Requester = { client: client ?? Symbol('operation') };
  const afterEvent = lastEventId === undefined ? undefined : parseEventId(lastEventId);
  const { maxPageSize, maxCandles, maxHistoryHours } = service.limits;
  const options = { maxPageSize, maxCandles, maxHistoryHours, requester, afterEvent };
  return { service, loaders: new Loaders(service.sources, options, head) };
}

/** The height that an event id contains; `undefined` for any other text, such as `1e6`, which is also a number. */
function parseEventId(text: string): BeaconHeight | undefined {
  return /^\d+$/.test(text) ? parseBeaconHeight(Number(text)) : undefined;
}
