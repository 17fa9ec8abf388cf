import type { AnyUpstream } from '../errors.ts';
import type { RedisWatcher } from '../fleet/redis.ts';
import type { HistoryWatcher } from '../history/recorder-database.ts';
import type { Watcher } from '../live/broadcast/follower.ts';
import type { HeadWatcher } from '../live/chain/head-follower.ts';
import type { TradesWatcher } from '../live/chain/head-trades.ts';
import type { NodeWatcher } from '../live/chain/node.ts';
import type { TokenWatcher } from '../live/tokens.ts';
import type { Endpoint } from '../upstream/market-data/client.ts';
import type { NodeClient } from '../upstream/node/client.ts';
import { describeError, type Log } from './log.ts';

/** Maximum number of reasons of one outage that are logged as warnings: a message can have a part of what an upstream has sent. */
const MAX_REASONS = 10;

/** Logs each reason of an outage once as a warning, with the same facts, and when the outage is over. */
function logOutages(
  log: Log,
  failed: string,
  recovered: string,
  facts: object = {},
  describe: (error: unknown) => object = describeError,
): Watcher {
  const reasons = new Set<string>();
  return {
    failed(error) {
      const isNew = reasons.size < MAX_REASONS && !reasons.has(messageOf(error)) && !isOfStop(error);
      if (isNew) reasons.add(messageOf(error));
      log[isNew ? 'warn' : 'debug']({ ...facts, ...describe(error) }, failed);
    },
    recovered() {
      reasons.clear();
      log.info(facts, recovered);
    },
  };
}

/**
 * Logs each reason why an upstream cannot be read, and when it can be read again: once in an outage, however many followers read
 * it.
 *
 * @returns creates the watcher of a follower
 */
export function createUpstreamLog(log: Log, upstream: AnyUpstream): () => Watcher {
  const failing = new Set<Watcher>();
  const outages = logOutages(log, 'an upstream cannot be read', 'an upstream can be read again', { upstream });

  return () => {
    const watcher: Watcher = {
      failed(error) {
        failing.add(watcher);
        outages.failed(error);
      },
      recovered() {
        if (failing.delete(watcher) && failing.size === 0) outages.recovered();
      },
    };
    return watcher;
  };
}

/**
 * Logs why one of several nodes fails and when it responds again: a single node is logged as the upstream. For each node it
 * logs when it cannot read earlier states that it should have.
 *
 * @returns creates the watcher of a node
 */
export function createNodeLog(log: Log, nodes: number): (node: NodeClient) => NodeWatcher {
  const unlogged: Watcher = { failed() {}, recovered() {} };
  return ({ name: node }) => {
    const [failed, recovered] = ['one of the nodes cannot be read', 'one of the nodes can be read again'];
    const [lost, found] = ['a node cannot read earlier states', 'a node can read earlier states again'];
    const watcher = nodes > 1 ? logOutages(log, failed, recovered, { node }) : unlogged;
    return { ...watcher, pastStates: logOutages(log, lost, found, { node }) };
  };
}

/** Logs why a node cannot push new blocks, each reason once, and when the first one has come. */
export function createPushLog(log: Log, node: string) {
  const failing = 'a node does not push new blocks: the gateway polls it instead';
  const { failed, recovered: pushing } = logOutages(log, failing, 'a node pushes new blocks', { node });
  return { failed, pushing };
}

/** Logs when the token service cannot be read, and how many of its entries were skipped. */
export function createTokenLog(log: Log): TokenWatcher {
  return {
    ...createUpstreamLog(log, 'TOKENS')(),
    skipped(entries) {
      if (entries > 0) log.warn({ upstream: 'TOKENS', entries }, 'invalid entries of the token service are skipped');
      else log.info({ upstream: 'TOKENS' }, 'the token service has no invalid entries any more');
    },
  };
}

/** Minimum time between two lines about what cannot be read of one list: it is read every few seconds. */
const UNREADABLE_LOG_INTERVAL_MS = 60_000;

/**
 * Logs an example of what cannot be read of pairs, of tickers and of order books: each at once, and again once a minute.
 *
 * @param now the time in milliseconds
 */
export function createUnreadableLog(log: Log, now: () => number) {
  const loggedAt = new Map<Endpoint, number>();

  return (list: Endpoint, problem: string, example: unknown): void => {
    if (Math.abs(now() - (loggedAt.get(list) ?? Number.NEGATIVE_INFINITY)) < UNREADABLE_LOG_INTERVAL_MS) return;
    loggedAt.set(list, now());
    log.warn(
      { upstream: 'MARKET_DATA', list, problem, example },
      'parts of a response cannot be read and are left out',
    );
  };
}

/** Logs when the node cannot be read, when its tip is far below the served height, and each head at level debug. */
export function createHeadLog(log: Log): Required<HeadWatcher> {
  return {
    ...createUpstreamLog(log, 'NODE')(),
    fellFarBehind: (tip, served) =>
      log.warn(
        { tip, served },
        'the tip of the node is far below the served height: the node may have lost its database',
      ),
    caughtUp: (tip) => log.info({ tip }, 'the tip of the node is near the served height again'),
    published: ({ beaconHeight, previousHeight, hash, source }) =>
      log.debug({ beaconHeight, previousHeight, hash, node: source.name }, 'new head'),
  };
}

/** Logs when the trades of blocks cannot be read, and when they can be read again: once each. It logs each block whose trades are wrong. */
export function createTradesLog(log: Log): TradesWatcher {
  const watch = (trades: string) =>
    logOutages(
      log,
      `${trades} cannot be read from the nodes: other data is not affected`,
      `${trades} can be read again`,
    );
  return {
    ...watch('the trades of blocks'),
    past: watch('the trades of earlier blocks'),
    undecodable: (beaconHeight) =>
      log.warn(
        { beaconHeight },
        'an accepted trade of a block cannot be decoded: the trades of this block are unknown',
      ),
    mismatched: (beaconHeight, poolIds) =>
      log.warn(
        { beaconHeight, pools: poolIds.length, example: poolIds[0] },
        'the amounts of pools do not follow from the trades of a block: the node or the gateway is wrong',
      ),
  };
}

/** Logs when the database of the history fails, when it works again, and when it is refused. */
export function createHistoryLog(log: Log): HistoryWatcher {
  return {
    failed: (error) =>
      log.warn(
        { error: messageOf(error) },
        'the history cannot be recorded: live data is not affected, and heights are recorded later',
      ),
    recovered: () => log.info('the history is recorded again'),
    refused: (error) =>
      log.error(
        { error: messageOf(error) },
        'the history is off, because its database cannot be used: see HISTORY_DATABASE',
      ),
    untimed: () => log.warn('heights are not recorded: the exchange states of the node have no time'),
    dropped: (heights) =>
      log.debug({ heights }, 'heights wait for the database for too long: they are read from the node again later'),
    leftOut: (heights) =>
      log.warn(
        { heights },
        'heights are not recorded, because they do not fit the recorded heights: a node has shown another branch of the chain',
      ),
    deleted: (heights) =>
      log.warn(
        { heights },
        'heights were deleted from the history, because their blocks belong to an abandoned branch of the chain: the gateway reads these heights from the node again',
      ),
    undecided: (beaconHeight) =>
      log.warn(
        { beaconHeight },
        'the history has other blocks than the node at its newest heights, and keeps them: if the node is right, restore a backup or set another HISTORY_DATABASE',
      ),
  };
}

/** Logs why Redis cannot be used, each reason once in an outage, and when it can be used. */
export function createRedisLog(log: Log): RedisWatcher {
  const failed = 'Redis cannot be used: the gateway works alone until it can';
  const describe = (error: unknown) => ({ error: messageOf(error) });
  const outages = logOutages(log, failed, 'Redis can be used', {}, describe);
  return { available: outages.recovered, unavailable: outages.failed };
}

/** Whether a request was aborted because the gateway stops: that is no outage. */
function isOfStop(error: unknown): boolean {
  const { cause } = (error ?? {}) as { readonly cause?: NodeJS.ErrnoException };
  return cause?.code === 'UND_ERR_DESTROYED';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
