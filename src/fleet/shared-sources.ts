import { setTimeout as sleep } from 'node:timers/promises';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import type { Pair, Ticker } from '../domain/market.ts';
import { UpstreamError } from '../errors.ts';
import type { Follower } from '../live/broadcast/follower.ts';
import { isSettledWithin } from '../live/broadcast/wait-at-most.ts';
import { type Head, isAhead, isSameBlock } from '../live/chain/head.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import type { Nodes } from '../live/chain/nodes.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { type MarketFollower, type MarketSnapshot, prepareMarket, type ReadTime } from '../live/market/lists.ts';
import type { UpstreamHealth } from '../upstream/health.ts';
import type { SharedList } from './list-codec.ts';
import type { Publisher } from './publisher.ts';
import type { Received, ReceivedHead, ReceivedValues } from './reader.ts';
import type { RedisClock } from './redis-clock.ts';
import type { UpstreamStatus } from './upstream-status.ts';

/** What this gateway follows, and what is shared with the other replicas. */
export type FollowedSources = {
  readonly head: HeadFollower;
  readonly nodes: Pick<Nodes, 'all' | 'poll'>;
  readonly pastStates: Pick<PastStates, 'read'>;
  readonly market: Pick<MarketFollower, 'pairs' | 'tickers'>;
  /** The health of the upstreams, from the calls of this gateway. */
  upstreams(): readonly UpstreamHealth[];
  /** Polling is turned on or off. The nodes push their blocks only while it is on. */
  onPoll(isOn: boolean): void;
};

/** The followers of this gateway, as the fleet publishes from them and receives for them. */
export type SharedSources = {
  start(sources: FollowedSources): void;
  /** Turns the polling of the upstreams on or off. */
  poll(isOn: boolean): void;
  /** @returns whether this gateway still leads @throws as `Publisher` */
  publishHead(head: Head): Promise<boolean>;
  /** @throws as `publishHead` */
  publishPairs(snapshot: MarketSnapshot<Pair>): Promise<boolean>;
  /** @throws as `publishHead` */
  publishTickers(snapshot: MarketSnapshot<Ticker>): Promise<boolean>;
  /**
   * Publishes what this gateway has and the streams do not: the heads that it remembers, and the lists.
   *
   * @param streamHeight the highest height that the streams have now: a Redis that was replaced can have lost some or all heads
   * @throws as `publishHead`
   */
  publishAll(streamHeight: BeaconHeight | undefined): Promise<boolean>;
  /**
   * Adds to a head the states of the heights that nobody has followed since the previous one, if it is the first after
   * {@link poll}, or if others can have served these heights.
   */
  fillIn(head: Head, previous: Head | undefined, canBeServed: boolean): Promise<Head>;
  /** Serves what another replica has published. Heights never go back. */
  receive(values: ReceivedValues): Promise<void>;
  /** What this gateway knows of the upstreams, for the others. */
  describe(facts: Pick<UpstreamStatus, 'lease' | 'leadingMs' | 'isLeaving'>): UpstreamStatus;
  /** Whether the chain cannot be read: by this gateway, or while it does not poll, by the leader. */
  isFailing(): boolean;
  /** Polls the nodes once. @returns the name of their chain; `undefined` if none responds within a time */
  probe(withinMs: number): Promise<string | undefined>;
  /** The head that is served. */
  newest(): Head | undefined;
  /** The highest height of the streams. */
  publishedHeight(): BeaconHeight | undefined;
  upstreams(): readonly UpstreamHealth[] | undefined;
  lagMs(): number | undefined;
};

type SharedSourcesOptions = {
  readonly publisher: Publisher;
  readonly clock: RedisClock;
  readonly headsKept: number;
  readonly now: () => Instant;
};

/** How long the first head of a new leader waits for states that are filled in. */
const FILL_IN_MS = 1_000;

/** Reads of states that are filled in have one share of the queue. */
const FILLING = { client: Symbol('filled in') };

/** Creates the shared sources of a gateway. Nothing else is called before `start`. */
export function createSharedSources({ publisher, clock, headsKept, now }: SharedSourcesOptions): SharedSources {
  let sources: FollowedSources;
  let mustFillIn = false;
  let isPolling = false;
  let publishedHeight: BeaconHeight | undefined;
  let lagMs: number | undefined;
  let status: Received<UpstreamStatus> | undefined;

  const ageMs = (observedAt: Instant) => Math.max(0, now() - observedAt);

  async function publishHead(head: Head): Promise<boolean> {
    publisher.setChain(head.chainInfo.chainName);
    const isPublished = await publisher.head(head, ageMs(head.observedAt));
    if (isPublished) publishedHeight = head.beaconHeight;
    return isPublished;
  }

  function toShared<P extends Pair>({ market, observedAt, nextAt, dropped, read }: MarketSnapshot<P>): SharedList<P> {
    const intervalMs = Math.max(0, nextAt - observedAt);
    const [beganAt, endedAt] = [clock.toRedis(read.beganAt), clock.toRedis(read.endedAt)];
    return { rows: market.rows, dropped, ageMs: ageMs(observedAt), intervalMs, beganAt, endedAt };
  }

  function toHead(
    { value, publishedAt, filledIn }: ReceivedHead,
    previousHeight: BeaconHeight | undefined,
  ): Head | undefined {
    const { node: name, ageMs, exchange, ...block } = value;
    const source = sources.nodes.all.find((node) => node.name === name) ?? sources.nodes.all[0];
    if (source === undefined) return undefined;
    const observedAt = now() - ageMs - msSince(publishedAt);
    const head = { ...block, previousHeight, exchange, source, observedAt };
    return filledIn.length === 0 ? head : { ...head, filledIn: filledIn.map((state) => toFilledIn(state, head)) };
  }

  function receiveHeads(received: readonly ReceivedHead[]): void {
    const { head } = sources;
    const newest = received.at(-1)?.value.beaconHeight;
    if (newest !== undefined) publishedHeight = newest;
    const served = head.newest();
    const known = received.findLastIndex(({ value }) => served !== undefined && isSameBlock(value, served));
    let last = served;
    const earlier: Head[] = [];
    const later: Head[] = [];
    for (const [index, each] of received.entries()) {
      const isLater = index > known && (last === undefined || isAhead(each.value, last));
      const next = toHead(each, isLater ? last?.beaconHeight : undefined);
      if (next === undefined) return;
      if (!isLater) {
        earlier.push(next);
        continue;
      }
      next.source.shown.add(each.value.chainInfo.beacon);
      later.push(next);
      last = next;
      // What a gateway that has just started receives can be as old as the block.
      if (served !== undefined) lagMs = msSince(each.publishedAt) + each.value.ageMs;
    }
    // A gateway that has just started serves the newest only. Subscribers who resume get the others.
    if (served === undefined) earlier.push(...later.splice(0, later.length - 1));
    if (earlier.length > 0) head.remember(earlier.flatMap((each) => [...(each.filledIn ?? []), each]));
    const [first] = later;
    if (first !== undefined) head.receive(toOne(first, later));
  }

  async function receiveList<P extends Pair>(
    follower: Follower<MarketSnapshot<P>>,
    received: Received<SharedList<P>> | undefined,
  ): Promise<void> {
    if (received === undefined) return;
    const { rows, dropped, ageMs, intervalMs, beganAt, endedAt } = received.value;
    const observedAt = now() - ageMs - msSince(received.publishedAt);
    const read = { beganAt: clock.toLocal(beganAt), endedAt: clock.toLocal(endedAt) };
    const before = follower.newest()?.market;
    const market = before?.rows === rows ? before : await prepareMarket(rows);
    // A gateway that is alone reads its own. Afterwards the list of the leader can still be the older one.
    if (isPolling || !isNewer(read, follower.newest()?.read)) return;
    follower.receive({ market, observedAt, nextAt: observedAt + intervalMs, dropped, read });
  }

  function receiveStatus(received: Received<UpstreamStatus>): void {
    status = received;
    const { value } = received;
    if (isPolling) return;
    const { failures, nodes, tip } = value;
    sources.head.receiveFailure(failures.head);
    sources.market.pairs.receiveFailure(failures.pairs);
    sources.market.tickers.receiveFailure(failures.tickers);
    for (const node of sources.nodes.all) node.receiveTip(nodes.get(node.name));
    if (tip !== undefined) sources.head.receiveTip(tip);
  }

  return {
    start(followed) {
      sources = followed;
    },
    poll(isOn) {
      if (isOn && !isPolling) mustFillIn = true;
      if (isOn !== isPolling) sources.onPoll(isOn);
      isPolling = isOn;
      const { head, market } = sources;
      for (const follower of [head, market.pairs, market.tickers]) follower.poll(isOn);
    },
    publishHead,
    publishPairs: (snapshot) => publisher.pairs(toShared(snapshot)),
    publishTickers: (snapshot) => publisher.tickers(toShared(snapshot)),
    async publishAll(streamHeight) {
      const { head, market } = sources;
      publisher.restart();
      publishedHeight = streamHeight;
      const newest = head.newest();
      if (newest !== undefined) publisher.setChain(newest.chainInfo.chainName);
      // One by one: the replicas receive them in this order.
      const recent = head.recent().filter((each) => each.hash !== '' && each.beaconHeight > (publishedHeight ?? 0));
      for (const each of recent) if (!(await publishHead(each))) return false;
      const pairs = market.pairs.newest();
      if (pairs !== undefined && !(await publisher.pairs(toShared(pairs)))) return false;
      const tickers = market.tickers.newest();
      return tickers === undefined || publisher.tickers(toShared(tickers));
    },
    async fillIn(head, previous, canBeServed) {
      const hasGap = mustFillIn || canBeServed;
      mustFillIn = false;
      if (!hasGap || previous === undefined) return head;
      const lowest = Math.max(previous.beaconHeight + 1, head.beaconHeight - headsKept + 1);
      const heights = Array.from({ length: Math.max(0, head.beaconHeight - lowest) }, (_, n) => lowest + n);
      if (heights.length === 0) return head;
      const states = new Map<BeaconHeight, ExchangeState>();
      const reads = heights.map(async (height) => {
        states.set(height, await sources.pastStates.read(height, head, FILLING));
      });
      await isSettledWithin(FILL_IN_MS, Promise.allSettled(reads));
      const filledIn = heights.flatMap((height) => {
        const state = states.get(height);
        return state?.time === undefined ? [] : [toFilledIn(state, head)];
      });
      return { ...head, filledIn };
    },
    async receive({ heads, pairs, tickers, status }) {
      receiveHeads(heads);
      if (status !== undefined) receiveStatus(status);
      await receiveList(sources.market.pairs, pairs);
      await receiveList(sources.market.tickers, tickers);
    },
    describe(facts) {
      const { head, nodes, market, upstreams } = sources;
      const tips = nodes.all.map((node) => [node.name, node.status().tip] as const);
      const heights = tips.flatMap(([, tip]) => (tip === undefined ? [] : [tip.height]));
      const asError = (error: unknown) => (error instanceof UpstreamError ? error : undefined);
      return {
        ...facts,
        failures: {
          head: asError(head.failure()),
          pairs: asError(market.pairs.failure()),
          tickers: asError(market.tickers.failure()),
        },
        tip: heights.length === 0 ? undefined : Math.max(...heights),
        nodes: new Map(tips),
        upstreams: upstreams().map((health) => mapTimes(health, ageMs)),
      };
    },
    isFailing: () => sources.head.isFailing(),
    async probe(withinMs) {
      const tips = await Promise.race([sources.nodes.poll().catch(() => []), sleep(withinMs, [])]);
      return tips[0]?.tip.chainName;
    },
    newest: () => sources.head.newest(),
    publishedHeight: () => publishedHeight,
    upstreams() {
      if (status === undefined) return undefined;
      const elapsedMs = msSince(status.publishedAt);
      return status.value.upstreams.map((health) => mapTimes(health, (age) => now() - age - elapsedMs));
    },
    lagMs: () => lagMs,
  };
}

/** How long ago a moment of the monotonic clock was. */
function msSince(moment: number): number {
  return performance.now() - moment;
}

/** A head of a state that was read after the head above it. */
function toFilledIn(exchange: ExchangeState, above: Head): Head {
  const { beaconHeight, time = above.time } = exchange;
  return {
    ...above,
    beaconHeight,
    previousHeight: undefined,
    hash: '',
    previousHash: undefined,
    time,
    exchange,
    filledIn: undefined,
  };
}

/** Heads that were received together as the last of them, so that subscribers of `prices` get each height. */
function toOne({ previousHeight }: Head, heads: readonly Head[]): Head {
  const byHeight = new Map(
    heads.flatMap((each) => [...(each.filledIn ?? []), each]).map((each) => [each.beaconHeight, each]),
  );
  const newest = heads.at(-1) as Head;
  byHeight.delete(newest.beaconHeight);
  return { ...newest, previousHeight, filledIn: [...byHeight.values()] };
}

/** Whether a response cannot be older than another one: its read began when the other had ended. */
function isNewer(read: ReadTime, served: ReadTime | undefined): boolean {
  return served === undefined || read.beganAt >= served.endedAt;
}

/** The health with its times as ages, or its ages as times. */
function mapTimes(health: UpstreamHealth, map: (time: number) => number): UpstreamHealth {
  const { lastSuccessAt, lastErrorAt } = health;
  return {
    ...health,
    lastSuccessAt: lastSuccessAt === undefined ? undefined : map(lastSuccessAt),
    lastErrorAt: lastErrorAt === undefined ? undefined : map(lastErrorAt),
  };
}
