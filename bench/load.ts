import type { QueryLoad, QueryLoadResult } from './load/run-queries.ts';
import type { Receipt, SubscribersWanted } from './load/subscribers.ts';
import { type BenchProcess, startProcess } from './processes.ts';

/** How many connections ask at once where nothing else is said. */
export const CONNECTIONS = 32;

/** What asks, in a process of its own. */
export type Load = AsyncDisposable & {
  /** Sends queries to one server; what is left out is: over HTTP, 32 connections, without a pause, for a 200. */
  queries(
    server: BenchProcess,
    load: Partial<QueryLoad> & Pick<QueryLoad, 'requests' | 'seconds'>,
  ): Promise<QueryLoadResult>;
  /** Subscribes; resolves with what the first subscriber got when all have got something. */
  subscribe(server: BenchProcess, wanted: Omit<SubscribersWanted, 'port'>): Promise<string>;
  /** Has something published, and waits until all have got it; `busy` is how much of its core the load took, 0 to 1. */
  update(publish: () => Promise<unknown>): Promise<Receipt & { readonly busy: number }>;
  unsubscribe(): Promise<void>;
};

/** Starts the process that asks. */
export async function startLoad(): Promise<Load> {
  const bench = await startProcess({ place: 'load', file: 'load/main.ts' });
  return {
    queries: ({ url }, load) =>
      bench.ask('query load', {
        transport: 'http',
        connections: CONNECTIONS,
        atMost: undefined,
        pauseMs: 0,
        expectedStatus: 200,
        port: portOf(url),
        ...load,
      } satisfies QueryLoad),
    subscribe: ({ url }, wanted) =>
      bench.ask('subscribe', { ...wanted, port: portOf(url) } satisfies SubscribersWanted),
    async update(publish) {
      await bench.ask('expect update');
      const before = await bench.ask<number>('cpu seconds');
      await publish();
      const receipt = await bench.ask<Receipt>('receipt');
      const seconds = (await bench.ask<number>('cpu seconds')) - before;
      return { ...receipt, busy: (seconds * 1_000) / receipt.ms };
    },
    unsubscribe: () => bench.ask('unsubscribe'),
    [Symbol.asyncDispose]: () => bench.stop(),
  };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
