import { type BeaconHeight, parseBeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { Upstream } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import { Loaders } from '../loaders/loaders.ts';
import type { Sources } from '../loaders/sources.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import type { UpstreamHealth } from '../upstream/health.ts';
import type { AddressLimits, Limits } from './limits.ts';

/** What resolvers know of the gateway that they run in. */
export type Service = {
  readonly version: string;
  /** Whether the built-in sandbox plays the upstreams. */
  readonly isSandbox: boolean;
  readonly limits: Limits & AddressLimits;
  readonly sources: Sources;
  readonly now: () => Instant;
  /** The upstreams that are there. */
  readonly configured: ReadonlySet<Upstream>;
  upstreams(): readonly UpstreamHealth[];
};

/** What every resolver of one operation, or of one update of a subscription, gets. */
export type Context = {
  readonly service: Service;
  readonly loaders: Loaders;
};

/** What is known of an operation beside its document. */
export type ContextOptions = {
  /** The name of the client; where nothing is known of it, the operation counts as a client by itself. */
  readonly client?: string | undefined;
  /**
   * The id of the event that the reader of a stream got last: price updates go on after that height, where it is one,
   * whatever their arguments say.
   */
  readonly lastEventId?: string | null | undefined;
  /** The head that the answer describes, where that is not the one that is current when it is first asked for. */
  readonly head?: Head | undefined;
};

/** Makes the context of one answer: of an operation, or of one update of a subscription. */
export function createContext(service: Service, { client, lastEventId, head }: ContextOptions = {}): Context {
  const requester: Requester = { client: client ?? Symbol('an operation') };
  const afterEvent = lastEventId == null ? undefined : parseEventId(lastEventId);
  const { maxPageSize } = service.limits;
  return { service, loaders: new Loaders(service.sources, { maxPageSize, requester, afterEvent }, head) };
}

/** Reads the id of an event as the height that it is, or `undefined`: other texts that stand for numbers are no ids of ours. */
function parseEventId(text: string): BeaconHeight | undefined {
  return /^\d+$/.test(text) ? parseBeaconHeight(Number(text)) : undefined;
}
