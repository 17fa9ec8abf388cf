import type { ExchangeState } from '../domain/exchange.ts';
import type { Pair, Ticker } from '../domain/market.ts';
import { type RefusalReason, RefusedMessageError } from './byte-reader.ts';
import { createHeadReader, type SharedHead } from './head-codec.ts';
import { createListReader, PAIR_ROWS, type SharedList, TICKER_ROWS } from './list-codec.ts';
import { readMessage } from './messages.ts';
import type { Redis } from './redis.ts';
import type { RedisClock } from './redis-clock.ts';
import { readStreams, type StreamEntry, type StreamName } from './streams.ts';
import { readStatus, type UpstreamStatus } from './upstream-status.ts';

/** A value of another replica, and when it was published, by the monotonic clock of this gateway. */
export type Received<T> = { readonly value: T; readonly publishedAt: number };

/** A head, with the states that were filled in before it. */
export type ReceivedHead = Received<SharedHead> & { readonly filledIn: readonly ExchangeState[] };

/** What was read from the streams, in order. Of the lists and of the status, only the newest. */
export type ReceivedValues = {
  readonly heads: readonly ReceivedHead[];
  readonly pairs: Received<SharedList<Pair>> | undefined;
  readonly tickers: Received<SharedList<Ticker>> | undefined;
  readonly status: Received<UpstreamStatus> | undefined;
};

/** Reads what the leader has published. */
export type Reader = {
  /** Reads everything that the streams have, from their start. @throws RedisUnavailableError */
  readAll(): Promise<ReceivedValues>;
  /** Reads the next values, and waits for them at most for this time. @throws RedisUnavailableError */
  readNext(waitMs: number): Promise<ReceivedValues>;
  /** The id of the last head that was read. */
  lastHead(): string;
  /** Whether the last message of each stream could be read. */
  isReadable(): boolean;
  /** Messages without the name of this chain are refused from now on. */
  setChain(name: string): void;
  /** The bytes of all messages. */
  bytes(): number;
  /** How many messages were refused, by the reason. */
  refused(): ReadonlyMap<RefusalReason, number>;
};

type ReaderOptions = {
  readonly redis: Redis;
  readonly clock: RedisClock;
  /** Is notified of the first message that is refused after one that was read. */
  readonly onRefused: (stream: StreamName, error: RefusedMessageError) => void;
};

/** Creates a reader. */
export function createReader({ redis, clock, onRefused }: ReaderOptions): Reader {
  const refusals = new Map<RefusalReason, number>();
  let chain: string | undefined;
  let bytes = 0;
  let run = startRun();

  /** The state of reading the streams from their start. */
  function startRun() {
    return {
      position: readStreams(redis),
      heads: createHeadReader(),
      pairs: createListReader(PAIR_ROWS),
      tickers: createListReader(TICKER_ROWS),
      filledIn: [] as ExchangeState[],
      /** Streams of which a message was read, and those whose last one was refused. */
      begun: new Set<StreamName>(),
      refused: new Set<StreamName>(),
    };
  }

  type Run = ReturnType<typeof startRun>;
  type Values = { -readonly [Key in keyof ReceivedValues]: ReceivedValues[Key] } & { heads: ReceivedHead[] };

  async function read(run: Run, entry: StreamEntry, values: Values): Promise<void> {
    const { kind, payload } = readMessage(entry.bytes, chain);
    const publishedAt = clock.toLocal(entry.addedAt);
    if (kind === 'filled') run.filledIn.push(run.heads.filled(payload));
    if (kind === 'head') {
      const value = run.heads.head(payload);
      values.heads.push({ value, publishedAt, filledIn: run.filledIn });
      run.filledIn = [];
    }
    if (kind === 'pairs') values.pairs = { value: await run.pairs.read(payload), publishedAt };
    if (kind === 'tickers') values.tickers = { value: await run.tickers.read(payload), publishedAt };
    if (kind === 'status') values.status = { value: readStatus(payload), publishedAt };
  }

  async function readEntries(run: Run, entries: readonly StreamEntry[], values: Values): Promise<void> {
    for (const entry of entries) {
      const { stream } = entry;
      bytes += entry.bytes.length;
      try {
        await read(run, entry, values);
        run.begun.add(stream);
        run.refused.delete(stream);
      } catch (error) {
        if (!(error instanceof RefusedMessageError)) throw error;
        // The stream can begin with changes of a state that was trimmed.
        if (error.reason === 'gap' && !run.begun.has(stream)) continue;
        refusals.set(error.reason, (refusals.get(error.reason) ?? 0) + 1);
        if (!run.refused.has(stream)) onRefused(stream, error);
        run.refused.add(stream);
      }
    }
  }

  const nothing = (): Values => ({ heads: [], pairs: undefined, tickers: undefined, status: undefined });

  return {
    async readAll() {
      const own = startRun();
      run = own;
      const values = nothing();
      for (;;) {
        const entries = await own.position.next();
        if (entries.length === 0) return values;
        await readEntries(own, entries, values);
      }
    },
    async readNext(waitMs) {
      const own = run;
      const values = nothing();
      await readEntries(own, await own.position.wait(waitMs), values);
      return values;
    },
    lastHead: () => run.position.lastId('heads'),
    isReadable: () => run.refused.size === 0,
    setChain(name) {
      chain = name;
    },
    bytes: () => bytes,
    refused: () => refusals,
  };
}
