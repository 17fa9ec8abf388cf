import { type BeaconHeight, parseBeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { Upstream } from '../errors.ts';
import { createRenewableLoaders, type Loaders } from '../loaders/loaders.ts';
import type { Sources } from '../loaders/sources.ts';
import { createUpdates, type Updates } from '../loaders/updates.ts';
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

/** What every resolver of one operation gets. */
export type Context = {
  readonly service: Service;
  /** Of the answer that is being made: a subscription renews them for each of its updates. */
  readonly loaders: Loaders;
  readonly updates: Updates;
};

/**
 * Makes the context of one operation.
 *
 * @param lastEventId the id of the event that the reader of a stream got last: price updates go on after that height, where
 *   it is one, whatever their arguments say
 */
export function createContext(service: Service, lastEventId?: string | null): Context {
  const { sources, limits } = service;
  const { loaders, renew } = createRenewableLoaders(sources, limits);
  const afterEvent = lastEventId == null ? undefined : parseEventId(lastEventId);
  return { service, loaders, updates: createUpdates({ sources, startAnswer: renew, afterEvent }) };
}

/** Reads the id of an event as the height that it is, or `undefined`: other texts that stand for numbers are no ids of ours. */
function parseEventId(text: string): BeaconHeight | undefined {
  return /^\d+$/.test(text) ? parseBeaconHeight(Number(text)) : undefined;
}
