/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
export type MarketDivergenceQueryVariables = Exact<{
  poolId: string;
}>;


export type MarketDivergenceQuery = { readonly beaconHeight: number | null, readonly pair: { readonly id: string, readonly divergence: { readonly poolPrice: number | null, readonly lastPrice: number | null, readonly lastPercent: number | null, readonly bookMidPrice: number | null, readonly bookPercent: number | null, readonly tradedPrice: number | null, readonly tradedPercent: number | null } | null } | null };


export const MarketDivergenceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"MarketDivergence"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"poolId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"pair"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"poolId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"poolId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"divergence"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"poolPrice"}},{"kind":"Field","name":{"kind":"Name","value":"lastPrice"}},{"kind":"Field","name":{"kind":"Name","value":"lastPercent"}},{"kind":"Field","name":{"kind":"Name","value":"bookMidPrice"}},{"kind":"Field","name":{"kind":"Name","value":"bookPercent"}},{"kind":"Field","name":{"kind":"Name","value":"tradedPrice"}},{"kind":"Field","name":{"kind":"Name","value":"tradedPercent"}}]}}]}}]}}]} as unknown as DocumentNode<MarketDivergenceQuery, MarketDivergenceQueryVariables>;