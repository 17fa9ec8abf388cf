import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport } from './connection.ts';
import { openHttpConnection } from './http-connection.ts';
import { openWebSocketConnection } from './websocket-connection.ts';

/** A load of queries. */
export type QueryLoad = {
  readonly port: number;
  readonly transport: Transport;
  /** The encoded requests, which all connections together send one after another. */
  readonly requests: readonly Uint8Array[];
  readonly connections: number;
  readonly seconds: number;
  /** Maximum number of requests; `undefined` repeats the list until the time is over. */
  readonly maxRequests: number | undefined;
  /** How long a connection waits between a response and its next request. */
  readonly pauseMs: number;
  readonly expectedStatus: number;
};

/** The result of a load. */
export type QueryLoadResult = {
  readonly responses: number;
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The share of its core that the load generator used, 0 to 1. Near 1, the load generator was the bottleneck. */
  readonly busy: number;
};

const READ_BYTES = 2 ** 16;

const OPEN: Readonly<Record<Transport, typeof openHttpConnection>> = {
  http: openHttpConnection,
  websocket: openWebSocketConnection,
};

/** Runs a load. @throws Error at the first response with an unexpected status or with errors */
export async function runQueries(load: QueryLoad): Promise<QueryLoadResult> {
  const { port, transport, connections, seconds, pauseMs, expectedStatus } = load;
  const requests = load.requests.map((request) => Buffer.from(request));
  const maxRequests = load.maxRequests ?? Number.POSITIVE_INFINITY;
  const latencies = createHistogram();
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const buffer = Buffer.alloc(READ_BYTES);
  let sent = 0;
  let responses = 0;

  const open = Array.from({ length: connections }, () =>
    OPEN[transport](port, buffer, (reason) => fail(new Error(reason))),
  );
  await Promise.race([Promise.all(open.map(({ opened }) => opened)), failed]);
  const startCpu = process.cpuUsage();
  const start = performance.now();
  const end = start + seconds * 1_000;
  let last = start;

  const workers = open.map(
    (connection) =>
      new Promise<void>((resolve) => {
        function next(): void {
          const sentAt = performance.now();
          const request = requests[sent % requests.length];
          if (sentAt >= end || sent >= maxRequests || request === undefined) {
            resolve();
            return;
          }
          sent += 1;
          connection.send(request, ({ status, isError }) => {
            last = performance.now();
            if (status !== expectedStatus || isError)
              return fail(new Error(`a response with status ${status}${isError ? ' and errors' : ''}`));
            latencies.record(Math.max(1, Math.round((last - sentAt) * 1e6)));
            responses += 1;
            if (pauseMs > 0) setTimeout(next, pauseMs);
            else next();
          });
        }
        next();
      }),
  );
  const timeout = sleep((seconds + 60) * 1_000, undefined, { ref: false }).then(() => {
    throw new Error('a load did not end');
  });
  try {
    await Promise.race([Promise.all(workers), failed, timeout]);
  } finally {
    for (const connection of open) connection.end();
  }

  const elapsed = (last - start) / 1_000;
  const { user, system } = process.cpuUsage(startCpu);
  return {
    responses,
    perSecond: responses / elapsed,
    medianMs: latencies.percentile(50) / 1e6,
    p99Ms: latencies.percentile(99) / 1e6,
    maxMs: latencies.max / 1e6,
    busy: (user + system) / 1e6 / elapsed,
  };
}
