import { UNKNOWN_HASH } from '../domain/chain.ts';
import { versionOf } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { UpstreamBadShapeError } from '../errors.ts';
import { type Head, isAhead } from '../live/chain/head.ts';
import type { Nodes } from '../live/chain/nodes.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import type { FleetPoll } from '../live/fleet-port.ts';
import { waitAtMost } from '../turns/wait-at-most.ts';
import { type DirectoryOf, type PackedState, packState, STATE_FORMAT, unpackState } from './packed-states.ts';
import type { PollContext } from './poll-options.ts';
import { createPolls } from './polls.ts';

type HeadsOptions = {
  readonly context: PollContext;
  readonly directoryOf: DirectoryOf;
  readonly nodes: Pick<Nodes, 'all' | 'poll'>;
  readonly pastStates: Pick<PastStates, 'read'>;
  /** How many of the newest heads are stored for subscribers who come back. */
  readonly headsKept: number;
  readonly now: () => Instant;
  /** Is called with each head: how long ago another replica had read it, or 0 if this one has. */
  readonly onLag: (lagMs: number) => void;
};

/** A head as it is in Redis. */
type PackedHead = Omit<Head, 'exchange' | 'source' | 'filledIn' | 'previousHeight' | 'observedAt'> & {
  readonly exchange: PackedState;
  /** The name of the node that it was read from. */
  readonly node: string;
  /** When it had been read, by the clock of Redis. */
  readonly observedAt: number;
};

/**
 * States are filled in before a head whose block is not older than this. A node that catches up shows many blocks a second, and the
 * heights between them are of no use to subscribers.
 */
const MAX_FILLED_AGE_MS = 5 * 60_000;

/** How long a head waits for the states between it and the one before it. */
const FILL_IN_MS = 1_000;

/** Reads of states that are filled in have one share of the queue. */
const FILLING = { client: Symbol('filled in') };

/**
 * Creates the polls of the heads. Heights that no replica has followed, such as during an outage of Redis, are filled in: their
 * states are read as past states, so that subscribers get each height at each replica.
 */
export function createHeadPolls(options: HeadsOptions): FleetPoll<Head> {
  const { context, directoryOf, nodes, pastStates, headsKept, now, onLag } = options;
  const { clock, members } = context;

  function unpackOne({ node, observedAt, exchange, ...block }: PackedHead): Head | undefined {
    const own = nodes.all.find(({ name }) => name === node);
    const source = own ?? nodes.all[0];
    if (source === undefined) return undefined;
    const state = unpackState(exchange, directoryOf);
    const ageMs = performance.now() - clock.toLocal(observedAt);
    const read = { source, isOfOtherNode: own === undefined, observedAt: now() - ageMs };
    return { ...block, exchange: state, previousHeight: undefined, ...read };
  }

  /**
   * Whether a head is of another chain than the nodes, or while none of them has responded, than the previous head.
   *
   * @throws Error if the fleet follows this other chain, or Redis cannot be used
   */
  async function isOfOtherChain({ chainInfo }: Pick<Head, 'chainInfo'>, previous: Head | undefined): Promise<boolean> {
    const tips = nodes.all.flatMap((node) => node.record().tip ?? []);
    const [own = previous?.chainInfo, ...others] = tips;
    if (own === undefined || [own, ...others].some(({ chainName }) => chainName === chainInfo.chainName)) return false;
    await members.joinChain(own.chainName);
    return true;
  }

  /** The heads above the previous one as one head, so that subscribers of `prices` get each height. */
  async function unpack(values: readonly unknown[], previous: Head | undefined): Promise<Head | undefined> {
    // Before the first head, it waits for the nodes: otherwise, it could serve a head of another chain.
    if (previous === undefined && values.length > 0) await nodes.poll().catch(() => {});
    const newer: Head[] = [];
    for (const packed of values as readonly PackedHead[]) {
      if (await isOfOtherChain(packed, previous)) continue;
      const head = unpackOne(packed);
      const below = newer.at(-1) ?? previous;
      if (head === undefined || (below !== undefined && (!isAhead(head, below) || isOfV1After(head, below)))) continue;
      newer.push({ ...head, previousHeight: below?.beaconHeight });
      // The node of another replica may be none of this one.
      if (head.hash !== UNKNOWN_HASH && !head.isOfOtherNode) head.source.receiveTip(head.chainInfo.beacon);
    }
    // States that were filled in are no heads without the one above them, which Redis can have lost during the read.
    const newest = newer.findLast(({ hash }) => hash !== UNKNOWN_HASH);
    if (newest === undefined) return undefined;
    // The first head can be as old as its block.
    if (previous !== undefined) onLag(now() - newest.observedAt);
    return { ...newest, previousHeight: previous?.beaconHeight, filledIn: newer.slice(0, newer.indexOf(newest)) };
  }

  /** Reads the states of the heights between a head and the one before it. */
  async function fillIn(head: Head, previous: Head): Promise<readonly Head[]> {
    if (head.observedAt - head.time > MAX_FILLED_AGE_MS) return [];
    const lowest = Math.max(previous.beaconHeight + 1, head.beaconHeight - headsKept + 1);
    const heights = Array.from({ length: Math.max(0, head.beaconHeight - lowest) }, (_, n) => lowest + n);
    const filledIn: Head[] = [];
    const reads = heights.map(async (beaconHeight) => {
      const exchange = await pastStates.read(beaconHeight, head, FILLING);
      const { time } = exchange;
      const block = { beaconHeight, previousHeight: undefined, hash: UNKNOWN_HASH, previousHash: undefined };
      if (time !== undefined) filledIn.push({ ...head, ...block, time, exchange });
    });
    await waitAtMost(FILL_IN_MS, Promise.allSettled(reads));
    return filledIn.toSorted((a, b) => a.beaconHeight - b.beaconHeight);
  }

  const polls = createPolls<Head>(context, {
    name: 'head',
    keyPrefix: `head-${STATE_FORMAT}`,
    keep: headsKept,
    rankOf: ({ beaconHeight }) => beaconHeight,
    all: (head, previous) => (head === previous ? [] : [...(head.filledIn ?? []), head]),
    isBehind: ({ beaconHeight }) => nodes.all.every((node) => (node.status().tip?.height ?? 0) < beaconHeight),
    async pack({ exchange, source, observedAt, filledIn: _, previousHeight: __, ...block }): Promise<PackedHead> {
      await members.joinChain(block.chainInfo.chainName);
      const ageMs = Math.max(0, now() - observedAt);
      return {
        ...block,
        exchange: packState(exchange),
        node: source.name,
        observedAt: clock.toRedis(performance.now() - ageMs),
      };
    },
    unpack,
  });

  return {
    ...polls,
    poll: (request) =>
      polls.poll({
        ...request,
        async read(previous) {
          const head = await request.read(previous);
          // No node had responded when this gateway took the head of another one.
          if (await isOfOtherChain(head, undefined).catch(() => true))
            throw new UpstreamBadShapeError('NODE', 'it belongs to another chain than the head of the fleet');
          if (head !== previous) onLag(0);
          if (previous === undefined || head === previous) return head;
          const filledIn = await fillIn(head, previous);
          return filledIn.length === 0 ? head : { ...head, filledIn };
        },
      }),
  };
}

/** Whether a head has pools that no longer trade, as a replica publishes it that does not know yet that V3 has started. */
function isOfV1After(head: Head, below: Head): boolean {
  return versionOf(head.exchange) === 'V1' && versionOf(below.exchange) === 'V3';
}
