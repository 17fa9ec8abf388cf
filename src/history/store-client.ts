import { once } from 'node:events';
import nodeModule from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import { createDirectories, type Directories } from './directories.ts';
import type {
  BlockMessage,
  CallMessage,
  ResponseMessage,
  StateMessage,
  WarningMessage,
  WorkerOptions,
} from './messages.ts';
import { type FinalBlock, type HistoryDatabase, HistoryDatabaseError, type HistoryStore } from './store.ts';

/** What a history is created with. */
export type HistoryStoreOptions = {
  readonly database: HistoryDatabase;
  /** For how many days the changes of each height are kept. Candles are kept longer. */
  readonly rawDays: number;
  /** Receives the warnings of libraries in the thread. */
  readonly onWarning?: ((warning: string) => void) | undefined;
};

/** The pause after a failure of the worker doubles, from the first of these to the second, in milliseconds. */
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** How long a worker may take to close its database, in milliseconds. */
const CLOSE_TIMEOUT_MS = 5_000;

/** The memory of JavaScript in the worker, in MB. Beyond it, the worker fails, and not the process. */
const MAX_WORKER_MB = 512;

type RunningWorker = {
  readonly worker: Worker;
  readonly directories: Directories;
  readonly pending: Map<number, PromiseWithResolvers<unknown>>;
  /** The name of the directory that was sent last. */
  sentDirectory: string;
};

/**
 * Creates the store of a history. It works in a thread of its own, so that neither the database nor the comparison of states
 * blocks the event loop. The thread starts with the first call.
 *
 * Calls fail with HistoryDatabaseError while the database cannot be used, and for a while after the thread has failed. The next
 * ones succeed as soon as the cause has ended, unless the error is permanent.
 */
export function createHistoryStore(options: HistoryStoreOptions): HistoryStore {
  let running: RunningWorker | undefined;
  let chain: string | undefined;
  let isClosed = false;
  let closing: Promise<void> | undefined;
  let retryMs = MIN_RETRY_MS;
  let startAt = 0;
  let lastId = 0;

  function start(): RunningWorker {
    if (performance.now() < startAt) throw new HistoryDatabaseError('The thread of the history has failed.');
    const { database, rawDays } = options;
    const message = database.kind === 'postgresql' ? { ...database, url: database.url.href } : database;
    const workerData: WorkerOptions = { database: message, rawDays };
    const worker = new Worker(workerUrl(), {
      name: 'pdex-history',
      workerData,
      env: workerEnvironment(),
      // Files that are loaded before the gateway, such as those of tools, do not belong into the worker.
      execArgv: ['--no-warnings'],
      resourceLimits: { maxOldGenerationSizeMb: MAX_WORKER_MB },
    });
    const directories = createDirectories('client');
    const started: RunningWorker = { worker, directories, pending: new Map(), sentDirectory: '' };
    worker.on('message', (message: ResponseMessage | WarningMessage) =>
      'warning' in message ? options.onWarning?.(message.warning) : receive(started, message),
    );
    worker.once('error', (error) => fail(started, error instanceof Error ? error : new Error(String(error))));
    worker.once('exit', (code) => fail(started, new Error(`It exited with ${code}.`)));
    return started;
  }

  function receive({ pending }: RunningWorker, response: ResponseMessage): void {
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

  function fail(failed: RunningWorker, cause: Error): void {
    for (const call of failed.pending.values())
      call.reject(new HistoryDatabaseError(`The thread of the history has failed: ${cause.message}`, { cause }));
    failed.pending.clear();
    if (running !== failed) return;
    running = undefined;
    if (isClosed) return;
    startAt = performance.now() + retryMs;
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }

  async function call<T>(toCall: (worker: RunningWorker) => Call): Promise<T> {
    if (isClosed) throw new HistoryDatabaseError('The history is closed.');
    if (running === undefined) {
      running = start();
      if (chain !== undefined) send(running, { method: 'useChain', values: [chain] }).catch(() => undefined);
    }
    return (await send(running, toCall(running))) as T;
  }

  function send(worker: RunningWorker, { method, values, moved = [] }: Call): Promise<unknown> {
    const response = Promise.withResolvers<unknown>();
    lastId += 1;
    worker.pending.set(lastId, response);
    worker.worker.postMessage({ id: lastId, method, values } as CallMessage, moved);
    return response.promise;
  }

  function toBlockMessage(worker: RunningWorker, { hash, time, exchange }: FinalBlock): BlockMessage {
    const directory = worker.directories.toMessage(exchange.directory, [worker.sentDirectory]);
    worker.sentDirectory = directory.name;
    const { beaconHeight, time: stateTime, reserves } = exchange;
    return { hash, time, exchange: { beaconHeight, time: stateTime, reserves: reserves.slice(), directory } };
  }

  const forward =
    <M extends 'coverage' | 'blockAt' | 'recentBlocks' | 'candles' | 'windows' | 'reservesAt' | 'deleteFrom' | 'prune'>(
      method: M,
    ) =>
    (...values: Parameters<HistoryStore[M]>) =>
      call<Awaited<ReturnType<HistoryStore[M]>>>(() => ({ method, values })) as ReturnType<HistoryStore[M]>;

  return {
    async useChain(chainName) {
      await call(() => ({ method: 'useChain', values: [chainName] }));
      chain = chainName;
    },
    async record(blocks) {
      let sending: RunningWorker | undefined;
      try {
        return await call<readonly BeaconHeight[]>((worker) => {
          sending = worker;
          const messages = blocks.map((block) => toBlockMessage(worker, block));
          const moved = messages.map(({ exchange }) => exchange.reserves.buffer);
          return { method: 'record', values: [messages], moved };
        });
      } catch (error) {
        // The worker may not have the directory.
        if (sending) sending.sentDirectory = '';
        throw error;
      }
    },
    async stateAt(height) {
      let directories: Directories | undefined;
      const state = await call<StateMessage | undefined>((worker) => {
        ({ directories } = worker);
        return { method: 'stateAt', values: [height, directories.names] };
      });
      const directory = state && directories?.toDirectory(state.directory);
      if (state && !directory) throw new HistoryDatabaseError('The pools of the state are not known any more.');
      return state && directory && { ...state, directory };
    },
    coverage: forward('coverage'),
    blockAt: forward('blockAt'),
    recentBlocks: forward('recentBlocks'),
    candles: forward('candles'),
    windows: forward('windows'),
    reservesAt: forward('reservesAt'),
    deleteFrom: forward('deleteFrom'),
    prune: forward('prune'),
    close() {
      closing ??= close();
      return closing;
    },
  };

  async function close(): Promise<void> {
    isClosed = true;
    if (running === undefined) return;
    const { worker } = running;
    const exited = once(worker, 'exit');
    const timeout = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS);
    send(running, { method: 'close', values: [] }).catch(() => undefined);
    await exited;
    clearTimeout(timeout);
  }
}

type Call = Pick<CallMessage, 'method' | 'values'> & { readonly moved?: readonly ArrayBuffer[] };

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
