import type { Pair, Ticker } from '../domain/market.ts';
import type { Head } from '../live/chain/head.ts';
import { createHeadWriter, type HeadPayload } from './head-codec.ts';
import type { Lease } from './lease.ts';
import { createListWriter, type ListWriter, PAIR_ROWS, type SharedList, TICKER_ROWS } from './list-codec.ts';
import { type MessageKind, writeMessage } from './messages.ts';
import type { Redis } from './redis.ts';
import type { StreamName } from './streams.ts';
import { type UpstreamStatus, writeStatus } from './upstream-status.ts';

/** Writes what the leader reads to the streams. Each returns `false` if the replica no longer has the lease. */
export type Publisher = {
  /** The first message of each kind is a keyframe again. */
  restart(): void;
  /** @throws RedisUnavailableError, or the error of a reply */
  head(head: Head, ageMs: number): Promise<boolean>;
  /** @throws as `head` */
  pairs(list: SharedList<Pair>): Promise<boolean>;
  /** @throws as `head` */
  tickers(list: SharedList<Ticker>): Promise<boolean>;
  /** @throws as `head` */
  status(status: UpstreamStatus): Promise<boolean>;
  /** The name of the chain, in every message. */
  setChain(name: string): void;
  /** The bytes of all messages. */
  bytes(): number;
};

type PublisherOptions = {
  readonly redis: Redis;
  readonly lease: Lease;
  /** How many of the newest heads the stream has at least. */
  readonly headsKept: number;
};

/** How many times as many heads as are needed the stream has at most. */
const MAX_KEPT = 4;

/** Creates a publisher. */
export function createPublisher({ redis, lease, headsKept }: PublisherOptions): Publisher {
  const heads = createHeadWriter();
  const pairs = createListWriter(PAIR_ROWS);
  const tickers = createListWriter(TICKER_ROWS);
  let chain = '';
  let bytes = 0;
  /** The keyframes of the heads in the stream, and how many heads were published since each. */
  let keyframes: { readonly id: string; heads: number }[] = [];
  /** The newest keyframe of each list, in the order in which they were published. */
  const listKeyframes = new Map<'pairs' | 'tickers', string>();

  async function publish(
    stream: StreamName,
    message: { readonly kind: MessageKind; readonly payload: Buffer },
    trim?: readonly [string, string],
  ): Promise<string | undefined> {
    const written = writeMessage({ ...message, chain });
    const id = await lease.publish(redis.fleetKey(stream), written, trim);
    if (id !== undefined) bytes += written.length;
    return id;
  }

  async function publishHead(payload: HeadPayload): Promise<boolean> {
    const kept = keyframes.findLast((each) => each.heads >= headsKept);
    // The keyframes of earlier leaders are not known. The first message of this one is a keyframe.
    const trim =
      kept === undefined ? (['MAXLEN', String(MAX_KEPT * headsKept)] as const) : (['MINID', kept.id] as const);
    const id = await publish('heads', payload, trim);
    if (id === undefined) return false;
    if (payload.isKeyframe) keyframes.push({ id, heads: 0 });
    for (const keyframe of keyframes) keyframe.heads += 1;
    keyframes = keyframes.slice(kept === undefined ? 0 : keyframes.indexOf(kept));
    return true;
  }

  async function publishList<P extends Pair>(
    kind: 'pairs' | 'tickers',
    writer: ListWriter<P>,
    list: SharedList<P>,
  ): Promise<boolean> {
    const { payload, isKeyframe } = await writer.write(list);
    const [older, newer] = listKeyframes.values();
    const id = await publish('lists', { kind, payload }, older && newer ? ['MINID', older] : undefined);
    if (id === undefined) return false;
    if (isKeyframe) {
      listKeyframes.delete(kind);
      listKeyframes.set(kind, id);
    }
    return true;
  }

  /** After an error, what Redis has is not known: the next message does not depend on it. */
  async function orRestart(published: Promise<boolean>, restart: () => void): Promise<boolean> {
    try {
      return await published;
    } catch (error) {
      restart();
      throw error;
    }
  }

  async function publishHeads(head: Head, ageMs: number): Promise<boolean> {
    for (const { exchange } of head.filledIn ?? []) if (!(await publishHead(heads.filled(exchange)))) return false;
    return publishHead(heads.head(head, ageMs));
  }

  return {
    restart() {
      keyframes = [];
      listKeyframes.clear();
      heads.restart();
      pairs.restart();
      tickers.restart();
    },
    head: (head, ageMs) => orRestart(publishHeads(head, ageMs), heads.restart),
    pairs: (list) => orRestart(publishList('pairs', pairs, list), pairs.restart),
    tickers: (list) => orRestart(publishList('tickers', tickers, list), tickers.restart),
    status: async (status) =>
      (await publish('status', { kind: 'status', payload: writeStatus(status) }, ['MAXLEN', '1'])) !== undefined,
    setChain(name) {
      chain = name;
    },
    bytes: () => bytes,
  };
}
