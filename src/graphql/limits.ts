import type { BucketRate } from '../domain/token-bucket.ts';
import { QueryTooComplexError } from '../errors.ts';

/** What one client may ask of the gateway at once. Each is enforced on every door, and told in `service.limits`. */
export type Limits = {
  /** How deeply selections may be nested; introspection is exempt. */
  readonly maxDepth: number;
  /** About how many objects an answer may hold; introspection is exempt. */
  readonly maxComplexity: number;
  /** About how many values an answer may hold, by the lengths that lists have now. */
  readonly maxValues: number;
  /** About how many objects of the schema an introspection may give. */
  readonly maxSchemaObjects: number;
  /** How many fields may stand side by side, those of fragments among them. */
  readonly maxSiblings: number;
  /** How deeply selections and fragments may be nested, in introspection too. */
  readonly maxNesting: number;
  /** How many lexical tokens a document may have. */
  readonly maxTokens: number;
  /** How many entries a page of a connection may have. */
  readonly maxPageSize: number;
  /** How large the body of a request, or a websocket message, may be. */
  readonly maxBodyBytes: number;
  /** How many heights beside its own one operation may read. */
  readonly maxHeightsPerOperation: number;
  /** How many of the newest heights are kept for price subscriptions that go on after a height. */
  readonly maxResumedHeights: number;
  /** How many operations one HTTP request may bring, as an array; 1 is none but a single one. */
  readonly maxOperationsPerRequest: number;
  /** How many operations may be open at once on one websocket. */
  readonly maxSubscriptionsPerConnection: number;
  /** About how many values the operations that are open at once on one websocket may hold together. */
  readonly maxValuesPerConnection: number;
};

/** What one address may ask of the gateway over time and at once. Each holds only where it is set, and is told like the others. */
export type AddressLimits = {
  /** The points of complexity that an address may use. */
  readonly rate: BucketRate | undefined;
  /** How many connections an address may have open, websockets among them. */
  readonly maxConnectionsPerAddress: number | undefined;
};

/** Limits that honest clients never meet. */
export const DEFAULT_LIMITS: Limits = {
  maxDepth: 15,
  maxComplexity: 20_000,
  // Ten thousand pools with every field: about 15 MB.
  maxValues: 300_000,
  // About three times what GraphiQL's deepest introspection counts as.
  maxSchemaObjects: 30_000,
  maxSiblings: 1_000,
  maxNesting: 200,
  maxTokens: 10_000,
  maxPageSize: 500,
  maxBodyBytes: 256 * 1024,
  maxHeightsPerOperation: 64,
  maxResumedHeights: 32,
  maxOperationsPerRequest: 1,
  maxSubscriptionsPerConnection: 100,
  maxValuesPerConnection: 1_000_000,
};

/** @throws QueryTooComplexError where more is wanted than a limit allows */
export function requireAtMost(limit: number, wanted: number, what: string): void {
  // Not the other way round: what is no number is too much as well.
  if (!(wanted <= limit)) {
    const amount = Number.isFinite(wanted) ? Math.ceil(wanted) : 'countless';
    throw new QueryTooComplexError(`The operation asks for ${amount} ${what}: ${limit} is the most.`);
  }
}
