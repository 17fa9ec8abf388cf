/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Whether the recorded history can be read. */
export type HistoryStatus =
  /** The gateway records nothing. Fields of the history are HISTORY_UNAVAILABLE. */
  | 'OFF'
  /** The recorded history can be read. This gateway, or another one of its fleet, records final heights or is about to begin. */
  | 'RECORDING'
  /** The database cannot be used now. Fields of the history are HISTORY_UNAVAILABLE. */
  | 'UNAVAILABLE';

/** One of the two upstreams of this gateway. */
export type Upstream =
  /** The market-data host: pairs, tickers and order books. */
  | 'MARKET_DATA'
  /** The full node: blocks and exchange state. */
  | 'NODE';

export type StatusQueryVariables = Exact<{ [key: string]: never; }>;


export type StatusQuery = { readonly beaconHeight: number | null, readonly service: { readonly version: string, readonly sandbox: boolean, readonly time: string, readonly historyStatus: HistoryStatus, readonly fleet: { readonly replicas: number, readonly connected: boolean } | null, readonly head: { readonly id: string, readonly beaconHeight: number, readonly previousHeight: number | null, readonly hash: string, readonly time: string, readonly observedAt: string, readonly stale: boolean } | null, readonly marketData: { readonly observedAt: string, readonly stale: boolean } | null, readonly upstreams: ReadonlyArray<{ readonly upstream: Upstream, readonly configured: boolean, readonly healthy: boolean, readonly lastSuccessAt: string | null, readonly lastErrorAt: string | null, readonly lastErrorCode: string | null }> } };


export const StatusDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Status"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"service"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ServiceFields"}},{"kind":"Field","name":{"kind":"Name","value":"fleet"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replicas"}},{"kind":"Field","name":{"kind":"Name","value":"connected"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"HeadFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Head"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"beaconHeight"}},{"kind":"Field","name":{"kind":"Name","value":"previousHeight"}},{"kind":"Field","name":{"kind":"Name","value":"hash"}},{"kind":"Field","name":{"kind":"Name","value":"time"}},{"kind":"Field","name":{"kind":"Name","value":"observedAt"}},{"kind":"Field","name":{"kind":"Name","value":"stale"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"UpstreamFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"UpstreamStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upstream"}},{"kind":"Field","name":{"kind":"Name","value":"configured"}},{"kind":"Field","name":{"kind":"Name","value":"healthy"}},{"kind":"Field","name":{"kind":"Name","value":"lastSuccessAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastErrorAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastErrorCode"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ServiceFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Service"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"sandbox"}},{"kind":"Field","name":{"kind":"Name","value":"time"}},{"kind":"Field","name":{"kind":"Name","value":"historyStatus"}},{"kind":"Field","name":{"kind":"Name","value":"head"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"HeadFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"marketData"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"observedAt"}},{"kind":"Field","name":{"kind":"Name","value":"stale"}}]}},{"kind":"Field","name":{"kind":"Name","value":"upstreams"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"UpstreamFields"}}]}}]}}]} as unknown as DocumentNode<StatusQuery, StatusQueryVariables>;