import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createDirectories } from './directories.ts';
import type {
  BlockMessage,
  CallMessage,
  ResponseMessage,
  StateMessage,
  WarningMessage,
  WorkerOptions,
} from './messages.ts';
import { createSqliteStore } from './sqlite-store.ts';
import { type FinalBlock, HistoryDatabaseError, type HistoryStore } from './store.ts';

/** With this niceness, a thread gets a quarter of a core that another thread uses fully. */
const NICENESS = 5;

// The worker of a store: it calls the store for each message, and responds.

lowerPriority();
process.on('warning', ({ name, message }) => {
  // `node:sqlite` is experimental.
  if (name !== 'ExperimentalWarning') parentPort?.postMessage({ warning: message } satisfies WarningMessage);
});

const { database, ...options } = workerData as WorkerOptions;
const directories = createDirectories('worker');
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

parentPort?.on('message', async (message: CallMessage) => {
  const { id, method } = message;
  try {
    if (method === 'close') await Promise.allSettled(calls);
    const calling = call(message);
    calls.add(calling);
    const value = await calling.finally(() => calls.delete(calling));
    const { reserves } = ((method === 'stateAt' ? value : undefined) as StateMessage | undefined) ?? {};
    send({ id, value }, reserves ? [reserves.buffer] : []);
  } catch (error) {
    const { message: text, isPermanent = false } = error as HistoryDatabaseError;
    send({ id, error: { message: text, isPermanent } });
  }
  if (method === 'close') parentPort?.close();
});

function send(response: ResponseMessage, transferred: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(response, transferred);
}

async function call(message: CallMessage): Promise<unknown> {
  const store = await storing;
  if (message.method === 'record') return store.record(message.values[0].map(toBlock));
  if (message.method === 'stateAt') return toStateMessage(...message.values);
  return (store[message.method] as (...values: readonly unknown[]) => Promise<unknown>)(...message.values);
}

function toBlock({ hash, time, exchange }: BlockMessage): FinalBlock {
  const directory = directories.toDirectory(exchange.directory);
  if (directory === undefined) throw new HistoryDatabaseError('The worker does not know the pools of the state.');
  return { hash, time, exchange: { ...exchange, directory } };
}

async function toStateMessage(height: number, known: readonly string[]): Promise<StateMessage | undefined> {
  const state = await (await storing).stateAt(height);
  return (
    state && {
      ...state,
      reserves: state.reserves as BigUint64Array<ArrayBuffer>,
      directory: directories.toMessage(state.directory, known),
    }
  );
}
