import type { GraphQLError } from 'graphql';
import type { OperationCost } from '../../graphql/cost.ts';
import type { KnownOperation, Planned } from '../../graphql/execution/planner.ts';
import type { OperationSpan } from '../../tracing/tracing.ts';
import type { Account } from '../clients/rate-limits.ts';
import type { Accepted } from '../requests/media-types.ts';
import type { SentOperation } from '../requests/parameters.ts';
import { noEventStream } from '../requests/refusal.ts';
import type { HeightClient } from './minimum-heights.ts';

/** The client of one operation, as its transport knows it. */
export type Client = HeightClient & {
  readonly account: Account;
  /** The minimum height in the header of its request, unchecked; `undefined` if it was reached before. */
  readonly minHeight?: unknown;
  /** Whether the result contains the cost. */
  readonly wantsCost: boolean;
  /** The id of the last event that the reader of an event stream received. */
  readonly lastEventId?: string | undefined;
  /** The span of the operation, if it is traced. */
  readonly span?: OperationSpan | undefined;
};

/** An operation that can be executed, with everything that its steps need. It is handed from one step to the next. */
export type PreparedOperation = {
  readonly client: Client;
  readonly operation: KnownOperation;
  /** The name of an operation of a persisted document, or the id of the document if it has none. */
  readonly persistedName: string | undefined;
  /** The variables as they were sent. */
  readonly sentVariables: SentOperation['variables'];
  readonly planned: Planned;
  readonly cost: OperationCost;
  /** Points that a rate limit charges in all. */
  readonly points: number;
  /** Whether each of its steps waits for a turn of the event loop, because the document or the variables are long. */
  readonly isLong: boolean;
  readonly errors?: never;
};

/** A prepared operation, or the errors of one that can never be executed. */
export type Prepared = PreparedOperation | { readonly errors: readonly GraphQLError[] };

/** Whether a prepared operation is a subscription. */
export function isSubscription(prepared: Prepared): prepared is PreparedOperation {
  return prepared.errors === undefined && prepared.operation.definition.operation === 'subscription';
}

/** Creates the check of operations over HTTP: a subscription needs an event stream. @param admit compares it with the limits first */
export function createStreamCheck(
  { events }: Accepted,
  admit: (prepared: PreparedOperation) => GraphQLError | undefined,
) {
  return (prepared: PreparedOperation): GraphQLError | undefined =>
    events || !isSubscription(prepared) ? undefined : (admit(prepared) ?? noEventStream());
}
