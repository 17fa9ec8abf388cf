/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Which pools are wanted: those that pass everything that is given. */
export type PoolPairFilter = {
  /** Leave out pools with an empty side. */
  readonly nonEmpty?: boolean | null | undefined;
  /** Pools whose tokens have one of these symbols on either side. Symbols are not unique. An empty list matches nothing. */
  readonly symbols?: ReadonlyArray<string> | null | undefined;
  /** Pools that hold this token on either side. */
  readonly tokenId?: string | null | undefined;
};

/** The two tokens of a pool, in either order. */
export type PoolPairKey = {
  /** One of the two. */
  readonly token1Id: string;
  /** The other. */
  readonly token2Id: string;
};

/** In which order pools are listed. */
export type PoolPairOrder =
  /** By the pool's two token ids, ascending. */
  | 'ID_ASC'
  /** By the pool's two token ids, descending. */
  | 'ID_DESC'
  /** By the amount of the native coin that the pool holds; pools without it last, by id. (Raw reserves of other tokens do not compare: their decimals differ.) */
  | 'NATIVE_LIQUIDITY_DESC';

export type PoolPriceQueryVariables = Exact<{
  token1Id: string;
  token2Id: string;
  at?: number | null | undefined;
}>;


export type PoolPriceQuery = { readonly beaconHeight: number | null, readonly poolPair: { readonly id: string, readonly key: string, readonly beaconHeight: number, readonly token1PoolValue: string, readonly token2PoolValue: string, readonly price: number | null, readonly exactPrice: string | null, readonly inversePrice: number | null, readonly spotPrice: number | null } | null };

export type PoolPageQueryVariables = Exact<{
  filter?: PoolPairFilter | null | undefined;
  orderBy?: PoolPairOrder;
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
export const PoolPageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"PoolPage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"PoolPairFilter"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PoolPairOrder"}}},"defaultValue":{"kind":"EnumValue","value":"ID_ASC"}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"at"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"BeaconHeight"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"poolPairs"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}},{"kind":"Argument","name":{"kind":"Name","value":"at"},"value":{"kind":"Variable","name":{"kind":"Name","value":"at"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"totalCount"}},{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<PoolPageQuery, PoolPageQueryVariables>;
export const PricesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"Prices"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"poolPairs"}},"type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PoolPairKey"}}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"tokenIds"}},"type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"TokenId"}}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"onlyChanged"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}},"defaultValue":{"kind":"BooleanValue","value":false}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"prices"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"poolPairs"},"value":{"kind":"Variable","name":{"kind":"Name","value":"poolPairs"}}},{"kind":"Argument","name":{"kind":"Name","value":"tokenIds"},"value":{"kind":"Variable","name":{"kind":"Name","value":"tokenIds"}}},{"kind":"Argument","name":{"kind":"Name","value":"onlyChanged"},"value":{"kind":"Variable","name":{"kind":"Name","value":"onlyChanged"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"previousHeight"}},{"kind":"Field","name":{"kind":"Name","value":"poolPairs"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"price"}},{"kind":"Field","name":{"kind":"Name","value":"token1PoolValue"}},{"kind":"Field","name":{"kind":"Name","value":"token2PoolValue"}}]}}]}}]}}]} as unknown as DocumentNode<PricesSubscription, PricesSubscriptionVariables>;