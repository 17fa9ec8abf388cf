import type { QueryLoad, QueryLoadResult } from './load/run-queries.ts';
import type { SubscriberLoad, UpdateReceipt } from './load/subscribers.ts';
import { type BenchProcess, startProcess } from './processes.ts';

/** The default number of connections. */
const CONNECTIONS = 32;

/** Sends load from a process of its own. */
export type LoadGenerator = AsyncDisposable & {
  /** Sends queries to a server. By default: over HTTP, on 32 connections, without a pause, and each status must be 200. */
  queries(
    server: BenchProcess,
    load: Partial<QueryLoad> & Pick<QueryLoad, 'requests' | 'seconds'>,
  ): Promise<QueryLoadResult>;
  /** Opens subscribers. Resolves with the first message of the first subscriber when all have received one. */
  subscribe(server: BenchProcess, load: Omit<SubscriberLoad, 'port'>): Promise<string>;
  /** Publishes an update, and waits until all have received it. `busy` is the share of its core that this process used. */
  update(publish: () => Promise<unknown>): Promise<UpdateReceipt & { readonly busy: number }>;
  unsubscribe(): Promise<void>;
};

/** Starts the process. */
export async function startLoadGenerator(): Promise<LoadGenerator> {
  const process = await startProcess({ role: 'load', file: 'load/main.ts' });
  return {
    queries: ({ url }, load) =>
      process.call('run queries', {
        transport: 'http',
        connections: CONNECTIONS,
        maxRequests: undefined,
        pauseMs: 0,
        expectedStatus: 200,
        port: portOf(url),
        ...load,
      } satisfies QueryLoad),
    subscribe: ({ url }, load) => process.call('subscribe', { ...load, port: portOf(url) } satisfies SubscriberLoad),
    async update(publish) {
      await process.call('expect update');
      const before = await process.call<number>('cpu seconds');
      await publish();
      const receipt = await process.call<UpdateReceipt>('receipt');
      const seconds = (await process.call<number>('cpu seconds')) - before;
      return { ...receipt, busy: (seconds * 1_000) / receipt.ms };
    },
    unsubscribe: () => process.call('unsubscribe'),
    [Symbol.asyncDispose]: () => process.stop(),
  };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
