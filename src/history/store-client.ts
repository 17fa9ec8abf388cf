import { once } from 'node:events';
import nodeModule from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  type HistoryDatabase,
  HistoryDatabaseError,
  type HistoryStore,
  READS,
  type StoredState,
  toMethods,
} from './store.ts';

/** What a store is created with. */
export type HistoryStoreOptions = {
  readonly database: HistoryDatabase;
  /** For how many days the changes of each height are kept. Candles are kept longer. */
  readonly rawDays: number;
  /** How long a query that only clients need may take in the server of PostgreSQL; as long as a write by default. */
  readonly readTimeoutMs?: number | undefined;
  /** Receives the warnings of libraries in the thread. */
  readonly onWarning?: ((warning: string) => void) | undefined;
};

/** What the worker of a store is started with. */
export type WorkerOptions = Pick<HistoryStoreOptions, 'database' | 'rawDays' | 'readTimeoutMs'>;

/** A call of a method of the store, with its arguments. */
export type CallMessage = {
  readonly id: number;
  readonly method: keyof HistoryStore;
  readonly values: readonly unknown[];
};

/** The response to a call: the value that the method has returned, or why it has failed. */
export type ResponseMessage = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: { readonly message: string; readonly isPermanent: boolean } }
);

/** A warning of Node or of a library in the worker. */
export type WarningMessage = { readonly warning: string };

/** The pause after a failure of the worker doubles, from the first of these to the second, in milliseconds. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** How long a worker may take to close its database, in milliseconds. A transaction that has not ended by then is rolled back. */
const CLOSE_TIMEOUT_MS = 1_000;

/** The memory of JavaScript in the worker, in MB. Beyond it, the worker fails, and not the process. */
const MAX_WORKER_MB = 512;

/**
 * Creates the store of a history. It works in a thread of its own, so that neither the database nor the comparison of states
 * blocks the event loop. The thread starts with the first call.
 *
 * Calls fail with HistoryDatabaseError while the database cannot be used, and for a while after the thread has failed. The next
 * ones succeed as soon as the cause has ended.
 */
export function createHistoryStore(options: HistoryStoreOptions): HistoryStore {
  /** The calls of the current worker without a response. */
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let current: Worker | undefined;
  let chain: string | undefined;
  let isClosed = false;
  let retryMs = MIN_RETRY_MS;
  let startAt = 0;
  let lastId = 0;

  function start(): Worker {
    if (performance.now() < startAt) throw new HistoryDatabaseError('The thread of the history has failed.');
    const { database, rawDays, readTimeoutMs } = options;
    const worker = new Worker(workerUrl(), {
      name: 'pdex-history',
      workerData: { database, rawDays, readTimeoutMs } satisfies WorkerOptions,
      env: workerEnvironment(),
      // Files that are loaded before the gateway, such as those of tools, do not belong into the worker.
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: MAX_WORKER_MB },
    });
    worker.on('message', (message: ResponseMessage | WarningMessage) =>
      'warning' in message ? options.onWarning?.(message.warning) : receive(message),
    );
    worker.once('error', (error) => fail(worker, error instanceof Error ? error : new Error(String(error))));
    worker.once('exit', (code) => fail(worker, new Error(`It exited with ${code}.`)));
    return worker;
  }

  function receive(response: ResponseMessage): void {
    const call = pending.get(response.id);
    pending.delete(response.id);
    if ('error' in response) {
      const { message, isPermanent } = response.error;
      call?.reject(new HistoryDatabaseError(message, { isPermanent }));
      return;
    }
    retryMs = MIN_RETRY_MS;
    call?.resolve(response.value);
  }

  function fail(failed: Worker, cause: Error): void {
    if (current !== failed) return;
    current = undefined;
    for (const call of pending.values())
      call.reject(new HistoryDatabaseError(`The thread of the history has failed: ${cause.message}`, { cause }));
    pending.clear();
    startAt = performance.now() + retryMs;
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }

  function running(): Worker {
    if (isClosed) throw new HistoryDatabaseError('The history is closed.');
    if (current === undefined) {
      current = start();
      if (chain !== undefined) send(current, 'useChain', [chain]).catch(() => undefined);
    }
    return current;
  }

  function send(worker: Worker, method: keyof HistoryStore, values: readonly unknown[]): Promise<unknown> {
    const response = Promise.withResolvers<unknown>();
    lastId += 1;
    pending.set(lastId, response);
    worker.postMessage({ id: lastId, method, values } satisfies CallMessage);
    return response.promise;
  }

  async function call<T>(method: keyof HistoryStore, values: readonly unknown[]): Promise<T> {
    return (await send(running(), method, values)) as T;
  }

  return {
    ...toMethods(
      [...READS, 'recordTrades', 'missingTrades', 'tradeCoverage', 'deleteFrom', 'prune', 'deletedBefore'],
      (method) =>
        (...values) =>
          call(method, values),
    ),
    async useChain(chainName) {
      await call('useChain', [chainName]);
      chain = chainName;
    },
    record: (blocks) =>
      call('record', [
        blocks.map(({ exchange: { beaconHeight, time, reserves, directory }, ...block }) => ({
          ...block,
          exchange: { beaconHeight, time, reserves, directory: { ids: directory.ids } } satisfies StoredState,
        })),
      ]),
    async close() {
      isClosed = true;
      const worker = current;
      if (worker === undefined) return;
      // It is rejected if the thread fails meanwhile.
      const exited = once(worker, 'exit').catch(() => undefined);
      const timeout = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS);
      send(worker, 'close', []).catch(() => undefined);
      await exited;
      clearTimeout(timeout);
    },
  };
}

/** The environment of the process, with its compile cache: a thread does not use it otherwise. */
function workerEnvironment(): NodeJS.ProcessEnv {
  const folder = nodeModule.getCompileCacheDir();
  // Node keeps the cache of each of its versions in a folder of its own.
  return folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) };
}

/** The file of the worker: in the package, it is a bundle of its own. */
function workerUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './history-worker.js', import.meta.url);
}
