/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
export type CoverageQueryVariables = Exact<{ [key: string]: never; }>;


export type CoverageQuery = { readonly beaconHeight: number | null, readonly history: { readonly firstHeight: number, readonly firstTime: string, readonly lastHeight: number, readonly lastTime: string, readonly heights: number, readonly isBackfilling: boolean, readonly gaps: ReadonlyArray<{ readonly from: number, readonly to: number }> } | null };


export const CoverageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Coverage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"history"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"firstHeight"}},{"kind":"Field","name":{"kind":"Name","value":"firstTime"}},{"kind":"Field","name":{"kind":"Name","value":"lastHeight"}},{"kind":"Field","name":{"kind":"Name","value":"lastTime"}},{"kind":"Field","name":{"kind":"Name","value":"heights"}},{"kind":"Field","name":{"kind":"Name","value":"isBackfilling"}},{"kind":"Field","name":{"kind":"Name","value":"gaps"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"5"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"from"}},{"kind":"Field","name":{"kind":"Name","value":"to"}}]}}]}}]}}]} as unknown as DocumentNode<CoverageQuery, CoverageQueryVariables>;