import { type ExchangeState, hasPools, type PoolDirectory, toPoolDirectory } from '../domain/exchange.ts';
import type { FinalBlock, HistoryDatabase, HistoryStore } from './store.ts';

/** What the worker of a store is started with. */
export type WorkerOptions = {
  /** A {@link HistoryDatabase} as a message. */
  readonly database:
    | Exclude<HistoryDatabase, { readonly url: URL }>
    | { readonly kind: 'postgresql'; readonly url: string };
  /** For how many days the changes of each height are kept. */
  readonly rawDays: number;
};

/** A call of a method of the store, with its arguments. The states of `record` are messages. */
export type CallMessage = {
  readonly id: number;
  readonly method: keyof HistoryStore;
  readonly values: readonly unknown[];
};

/** The response to a call: the value that the method has returned, or why it has failed. The state of `stateAt` is a message. */
export type ResponseMessage = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: { readonly message: string; readonly isPermanent: boolean } }
);

/** A warning of Node or of a library in the worker. */
export type WarningMessage = { readonly warning: string };

/** A state of the exchange as a message. */
export type StateMessage = Pick<ExchangeState, 'beaconHeight' | 'time' | 'reserves'> & {
  /** `undefined` for those of the message before: new pools are rare, and no pool is removed. */
  readonly poolIds: readonly string[] | undefined;
};

/** A final height as a message. */
export type BlockMessage = Omit<FinalBlock, 'exchange'> & { readonly exchange: StateMessage };

/** Creates the writer of the states that are sent in one direction. */
export function createStateWriter(): (state: ExchangeState) => StateMessage {
  let sent: PoolDirectory | undefined;

  return ({ beaconHeight, time, reserves, directory }) => {
    const poolIds = sent !== undefined && hasPools(sent, directory.ids) ? undefined : directory.ids;
    sent = directory;
    return { beaconHeight, time, reserves, poolIds };
  };
}

/** Creates the reader of the states that are received from one direction. It reads each message, in their order. */
export function createStateReader(): (message: StateMessage) => ExchangeState {
  let received = toPoolDirectory([]);

  return ({ poolIds, ...state }) => {
    if (poolIds !== undefined) received = toPoolDirectory(poolIds, received);
    return { ...state, directory: received };
  };
}
