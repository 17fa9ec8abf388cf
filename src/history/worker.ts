import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { ExchangeState } from '../domain/exchange.ts';
import {
  type BlockMessage,
  type CallMessage,
  createStateReader,
  createStateWriter,
  type ResponseMessage,
  type WarningMessage,
  type WorkerOptions,
} from './messages.ts';
import { createSqliteStore } from './sqlite-store.ts';
import type { FinalBlock, HistoryDatabaseError, HistoryStore } from './store.ts';

/** With this niceness, a thread gets a quarter of a core that another thread uses fully. */
const NICENESS = 5;

// The worker of a store: it calls the store for each message, and responds.

lowerPriority();
process.on('warning', ({ name, message }) => {
  // `node:sqlite` is experimental.
  if (name !== 'ExperimentalWarning') parentPort?.postMessage({ warning: message } satisfies WarningMessage);
});

const { database, ...options } = workerData as WorkerOptions;
const [readState, writeState] = [createStateReader(), createStateWriter()];
const storing = createStore();

/** Lets clients come before the history on a machine with one core. Only Linux sets the priority of one thread. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICENESS);
  } catch {
    // The filter of system calls in a service may forbid it.
  }
}

async function createStore(): Promise<HistoryStore> {
  if (database.kind !== 'postgresql')
    return createSqliteStore(database.kind === 'memory' ? undefined : database.path, options);
  // The driver is loaded only where it is needed.
  const { createPostgresStore } = await import('./postgres-store.ts');
  return createPostgresStore(database.url, options);
}

/** The calls in progress. */
const calls = new Set<Promise<unknown>>();

parentPort?.on('message', async ({ id, method, values }: CallMessage) => {
  // At once: a state can have the pools of the one before.
  const toCall = method === 'record' ? [(values as readonly [readonly BlockMessage[]])[0].map(toBlock)] : values;
  try {
    if (method === 'close') await Promise.allSettled(calls);
    const calling = call(method, toCall);
    calls.add(calling);
    const value = await calling.finally(() => calls.delete(calling));
    if (method === 'stateAt' && value !== undefined) send({ id, value: writeState(value as ExchangeState) });
    else send({ id, value });
  } catch (error) {
    const { message, isPermanent = false } = error as HistoryDatabaseError;
    send({ id, error: { message, isPermanent } });
  }
  if (method === 'close') parentPort?.close();
});

async function call(method: keyof HistoryStore, values: readonly unknown[]): Promise<unknown> {
  const store = await storing;
  return (store[method] as (...values: readonly unknown[]) => Promise<unknown>)(...values);
}

function send(response: ResponseMessage): void {
  parentPort?.postMessage(response);
}

function toBlock({ exchange, ...block }: BlockMessage): FinalBlock {
  return { ...block, exchange: readState(exchange) };
}
