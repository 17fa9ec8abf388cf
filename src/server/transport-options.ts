import type { GraphQLError } from 'graphql';
import type { Instant } from '../domain/instant.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { ClientAddresses } from './clients/client-address.ts';
import type { ConnectionLimits } from './clients/connection-limits.ts';
import type { RateLimits } from './clients/rate-limits.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { MinimumHeights } from './operations/minimum-heights.ts';
import type { PersistedQueries } from './operations/persisted-queries.ts';
import type { Pipeline } from './operations/pipeline.ts';
import type { RespondOver } from './operations/query-responses.ts';
import type { EventStreamOptions } from './requests/event-stream.ts';
import type { RequestIds } from './requests/http-exchange.ts';

/** What every transport of GraphQL operations and the REST API need. */
export type EndpointOptions = {
  readonly clients: ClientAddresses;
  readonly rates: RateLimits | undefined;
  readonly connections: ConnectionLimits | undefined;
  readonly minimumHeights: Pick<MinimumHeights, 'reach'>;
  readonly requestIds: RequestIds;
  readonly maskError: (error: unknown) => GraphQLError;
  readonly metrics: Metrics;
  readonly now: () => Instant;
  /** Whether the data is simulated. */
  readonly isSandbox: boolean;
};

/** What every transport of GraphQL operations needs beside that. */
export type TransportOptions = EndpointOptions &
  EventStreamOptions & {
    readonly pipeline: Pipeline;
    readonly persisted: PersistedQueries;
    readonly respondOver: RespondOver;
    /** Origins whose pages may send operations and open websockets, besides the gateway's own. */
    readonly corsOrigins: readonly string[];
    readonly tracing?: Tracing | undefined;
  };
