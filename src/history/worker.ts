import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createSqliteStore } from './sqlite-store.ts';
import { callOf, type HistoryDatabaseError, type HistoryStore } from './store.ts';
import type { CallMessage, ResponseMessage, WarningMessage, WorkerOptions } from './store-client.ts';

/** How much nicer than the process the thread is: it then gets a quarter of a core that another thread uses fully. */
const NICENESS = 5;

// The worker of a store: it calls the store for each message, and responds.

lowerPriority();
process.on('warning', ({ name, message }) => {
  // `node:sqlite` is experimental.
  if (name !== 'ExperimentalWarning') parentPort?.postMessage({ warning: message } satisfies WarningMessage);
});

const { database, ...options } = workerData as WorkerOptions;
const storing = createStore();

/** Lets clients come before the history on a machine with one core. Only Linux sets the priority of one thread. */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(getPriority() + NICENESS, constants.priority.PRIORITY_LOW));
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
  try {
    if (method === 'close') await Promise.allSettled(calls);
    const calling = storing.then((store) => callOf(store, method, values));
    calls.add(calling);
    send({ id, value: await calling.finally(() => calls.delete(calling)) });
  } catch (error) {
    const { message, isPermanent = false } = error as HistoryDatabaseError;
    send({ id, error: { message, isPermanent } });
  }
  if (method === 'close') parentPort?.close();
});

function send(response: ResponseMessage): void {
  parentPort?.postMessage(response);
}
