import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { FinalBlock, HistoryDatabase, HistoryStore } from './store.ts';

/** What the worker of a store is started with. */
export type WorkerOptions = {
  readonly database: DatabaseMessage;
  /** For how many days the changes of each height are kept. */
  readonly rawDays: number;
};

/** A {@link HistoryDatabase} as a message. */
type DatabaseMessage =
  | Exclude<HistoryDatabase, { readonly url: URL }>
  | { readonly kind: 'postgresql'; readonly url: string };

/** A call of a method of the store. */
export type CallMessage = { readonly id: number } & (
  | { readonly method: 'record'; readonly values: readonly [readonly BlockMessage[]] }
  /** Also sends the names of the directories that the client has. */
  | { readonly method: 'stateAt'; readonly values: readonly [BeaconHeight, readonly string[]] }
  | { readonly method: Exclude<keyof HistoryStore, 'record' | 'stateAt'>; readonly values: readonly unknown[] }
);

/** The response to a call. */
export type ResponseMessage = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: { readonly message: string; readonly isPermanent: boolean } }
);

/** A warning of Node or of a library in the worker. */
export type WarningMessage = { readonly warning: string };

/** A state of the exchange as a message. */
export type StateMessage = Pick<ExchangeState, 'beaconHeight' | 'time'> & {
  /** It is moved to the receiver. */
  readonly reserves: BigUint64Array<ArrayBuffer>;
  readonly directory: DirectoryMessage;
};

/** A directory as a message. */
export type DirectoryMessage = {
  readonly name: string;
  /** The ids of its pools, unless the receiver has the directory of this name. */
  readonly ids: readonly string[] | undefined;
};

/** A final height as a message. */
export type BlockMessage = Omit<FinalBlock, 'exchange'> & { readonly exchange: StateMessage };
