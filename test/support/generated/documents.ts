/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** A version of the exchange. Pools of two versions have nothing to do with each other. */
export type ExchangeVersion =
  /** Pools of `getpdestate`: one of two tokens. On the main network, they no longer trade. */
  | 'V1'
  /** Pools of `pdexv3_getState`: any number of two tokens, amplified, with orders. */
  | 'V3';

/** Filter for pools. A pool must match every field that is set. */
export type PoolPairFilter = {
  /** If true, matches only pools in which both pool values are greater than 0. */
  readonly nonEmpty?: boolean | null | undefined;
  /** Matches pools of V3 with one of these ids. Text in any other format is BAD_USER_INPUT. An empty list matches no pool. */
  readonly poolIds?: ReadonlyArray<string> | null | undefined;
  /** Matches pools with a token that has one of these symbols. Several tokens can have the same symbol. An empty string matches tokens without a symbol. An empty list matches no pool. */
  readonly symbols?: ReadonlyArray<string> | null | undefined;
  /** Matches pools that contain this token. */
  readonly tokenId?: string | null | undefined;
  /** Matches pools of this version. By default, of the one that traded at the height: V1 below the start of V3. Pools of V1 are read when a client requests them, once for each height. */
  readonly version?: ExchangeVersion | null | undefined;
};

/** Identifies a pool by its two tokens, in either order, and with V3 also by its pool id. */
export type PoolPairKey = {
  /** Id of the pool, as `PoolPair.poolId`, if several pools have these tokens. It must be a pool of the two tokens that the exchange has; anything else is BAD_USER_INPUT. Without it, the pool is that of `Query.poolPair`, with V3 the one with the most liquidity. That is decided again at each height. */
  readonly poolId?: string | null | undefined;
  /** Id of one of the two tokens. */
  readonly token1Id: string;
  /** Id of the other token. */
  readonly token2Id: string;
};

/** Order of a list of pools. */
export type PoolPairOrder =
  /** Ascending by the id of the pool: its two token ids, and in V3 its hash. */
  | 'ID_ASC'
  /** Descending by the id of the pool. */
  | 'ID_DESC'
  /** Descending by what the pool holds of the native coin. Pools without the native coin come last, in order of their ids. */
  | 'NATIVE_LIQUIDITY_DESC'
  /** Pools with liquidity first: those in which both pool values are greater than 0, ascending by their ids. The other pools come last, in the same order. */
  | 'NON_EMPTY_FIRST';

export type PoolPriceQueryVariables = Exact<{
  token1Id: string;
  token2Id: string;
  at?: number | null | undefined;
}>;


export type PoolPriceQuery = { readonly beaconHeight: number | null, readonly poolPair: { readonly id: string, readonly key: string, readonly beaconHeight: number, readonly token1PoolValue: string, readonly token2PoolValue: string, readonly price: number | null, readonly exactPrice: string | null, readonly inversePrice: number | null, readonly spotPrice: number | null } | null };

export type PoolPageQueryVariables = Exact<{
  filter?: PoolPairFilter | null | undefined;
  orderBy?: PoolPairOrder | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
  at?: number | null | undefined;
}>;


export type PoolPageQuery = { readonly poolPairs: { readonly totalCount: number, readonly edges: ReadonlyArray<{ readonly cursor: string, readonly node: { readonly id: string, readonly beaconHeight: number } }>, readonly pageInfo: { readonly hasNextPage: boolean, readonly hasPreviousPage: boolean, readonly startCursor: string | null, readonly endCursor: string | null } } | null };

export type PricesSubscriptionVariables = Exact<{
  poolPairs?: ReadonlyArray<PoolPairKey> | PoolPairKey | null | undefined;
  tokenIds?: ReadonlyArray<string> | string | null | undefined;
  onlyChanged?: boolean;
}>;


export type PricesSubscription = { readonly prices: { readonly beaconHeight: number, readonly previousHeight: number | null, readonly poolPairs: ReadonlyArray<{ readonly id: string, readonly beaconHeight: number, readonly price: number | null, readonly token1PoolValue: string, readonly token2PoolValue: string }> } };


export const PoolPriceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"PoolPrice"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"token1Id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"TokenId"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"token2Id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"TokenId"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"at"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"BeaconHeight"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"poolPair"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"token1Id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"token1Id"}}},{"kind":"Argument","name":{"kind":"Name","value":"token2Id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"token2Id"}}},{"kind":"Argument","name":{"kind":"Name","value":"at"},"value":{"kind":"Variable","name":{"kind":"Name","value":"at"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"key"}},{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"token1PoolValue"}},{"kind":"Field","name":{"kind":"Name","value":"token2PoolValue"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"exactPrice"}},{"kind":"Field","name":{"kind":"Name","value":"inversePrice"}},{"kind":"Field","name":{"kind":"Name","value":"spotPrice"}}]}}]}}]} as unknown as DocumentNode<PoolPriceQuery, PoolPriceQueryVariables>;
export const PoolPageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"PoolPage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"PoolPairFilter"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"PoolPairOrder"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"at"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"BeaconHeight"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"poolPairs"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"at"},"value":{"kind":"Variable","name":{"kind":"Name","value":"at"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<PoolPageQuery, PoolPageQueryVariables>;
export const PricesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"Prices"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"poolPairs"}},"type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PoolPairKey"}}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"tokenIds"}},"type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"TokenId"}}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"onlyChanged"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}},"defaultValue":{"kind":"BooleanValue","value":false}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"prices"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"poolPairs"},"value":{"kind":"Variable","name":{"kind":"Name","value":"poolPairs"}}},{"kind":"Argument","name":{"kind":"Name","value":"tokenIds"},"value":{"kind":"Variable","name":{"kind":"Name","value":"tokenIds"}}},{"kind":"Argument","name":{"kind":"Name","value":"onlyChanged"},"value":{"kind":"Variable","name":{"kind":"Name","value":"onlyChanged"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"previousHeight"}},{"kind":"Field","name":{"kind":"Name","value":"poolPairs"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"token1PoolValue"}},{"kind":"Field","name":{"kind":"Name","value":"token2PoolValue"}}]}}]}}]}}]} as unknown as DocumentNode<PricesSubscription, PricesSubscriptionVariables>;