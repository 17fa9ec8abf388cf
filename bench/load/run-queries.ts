import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport } from './connection.ts';
import { openHttpConnection } from './http-connection.ts';
import { openWebSocketConnection } from './websocket-connection.ts';

/** What is asked, and how hard. */
export type QueryLoad = {
  readonly port: number;
  readonly transport: Transport;
  /** Finished requests, sent in turn by all connections together. */
  readonly requests: readonly Uint8Array[];
  readonly connections: number;
  readonly seconds: number;
  /** Ends when that many were sent, if the time is not up before; `undefined` goes on from the start of the list. */
  readonly atMost: number | undefined;
  /** How long a connection waits between an answer and its next request. */
  readonly pauseMs: number;
  readonly expectedStatus: number;
};

/** What came of it. */
export type QueryLoadResult = {
  readonly answers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly bytes: number;
  /** How much of its core the load itself took, 0 to 1: near 1 it is the load that was measured. */
  readonly busy: number;
};

const READ_BYTES = 2 ** 16;

const OPEN: Readonly<Record<Transport, typeof openHttpConnection>> = {
  http: openHttpConnection,
  websocket: openWebSocketConnection,
};

/** Runs a load. @throws Error at the first answer that is not what was expected */
export async function runQueries(load: QueryLoad): Promise<QueryLoadResult> {
  const { port, transport, connections, seconds, pauseMs, expectedStatus } = load;
  const requests = load.requests.map((request) => Buffer.from(request));
  const atMost = load.atMost ?? Number.POSITIVE_INFINITY;
  const latencies = createHistogram();
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const buffer = Buffer.alloc(READ_BYTES);
  let sent = 0;
  let answers = 0;
  let bytes = 0;

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
          if (sentAt >= end || sent >= atMost || request === undefined) {
            resolve();
            return;
          }
          sent += 1;
          connection.send(request, ({ status, bytes: more, isError }) => {
            last = performance.now();
            if (status !== expectedStatus || isError)
              return fail(new Error(`an answer with status ${status}${isError ? ' and errors' : ''}`));
            latencies.record(Math.max(1, Math.round((last - sentAt) * 1e6)));
            answers += 1;
            bytes += more;
            if (pauseMs > 0) setTimeout(next, pauseMs);
            else next();
          });
        }
        next();
      }),
  );
  const late = sleep((seconds + 60) * 1_000, undefined, { ref: false }).then(() => {
    throw new Error('a load did not end');
  });
  try {
    await Promise.race([Promise.all(workers), failed, late]);
  } finally {
    for (const connection of open) connection.end();
  }

  const elapsed = (last - start) / 1_000;
  const { user, system } = process.cpuUsage(startCpu);
  return {
    answers,
    perSecond: answers / elapsed,
    p50Ms: latencies.percentile(50) / 1e6,
    p99Ms: latencies.percentile(99) / 1e6,
    maxMs: latencies.max / 1e6,
    bytes,
    busy: (user + system) / 1e6 / elapsed,
  };
}
