import type { Upstream } from './errors.ts';
import type { Watcher } from './live/broadcast/follower.ts';
import type { HeadWatcher } from './live/chain/head-follower.ts';
import type { NodeWatcher } from './live/chain/node.ts';
import type { LostPools } from './live/chain/pool-counts.ts';
import { describeError, type Log } from './log.ts';
import type { UpstreamCall } from './upstream/health.ts';
import type { NodeClient } from './upstream/node/client.ts';

/**
 * Logs when an upstream begins to fail and when it can be read again: once each, however many followers read it.
 *
 * @returns creates the watcher of a follower
 */
export function createUpstreamLog(log: Log, upstream: Upstream): () => Watcher {
  const failing = new Set<Watcher>();

  return () => {
    const watcher: Watcher = {
      failed(error) {
        const level = failing.size === 0 ? 'warn' : 'debug';
        failing.add(watcher);
        log[level]({ upstream, ...describeError(error) }, 'an upstream cannot be read');
      },
      recovered() {
        if (failing.delete(watcher) && failing.size === 0) log.info({ upstream }, 'an upstream can be read again');
      },
    };
    return watcher;
  };
}

/**
 * Logs when one of several nodes fails and when it responds again: a single node is logged as the upstream. For each node it
 * logs when it cannot read earlier states that it should have, and when its two sources of the height differ.
 *
 * @returns creates the watcher of a node
 */
export function createNodeLog(log: Log, nodes: number): (node: NodeClient) => NodeWatcher {
  return ({ name: node }) => ({
    failed(error) {
      if (nodes > 1) log.warn({ node, ...describeError(error) }, 'one of the nodes cannot be read');
    },
    recovered() {
      if (nodes > 1) log.info({ node }, 'one of the nodes can be read again');
    },
    pastStates: {
      failed: (error) => log.warn({ node, ...describeError(error) }, 'a node cannot read earlier states'),
      recovered: () => log.info({ node }, 'a node can read earlier states again'),
    },
    disagreed: (chainInfo, beaconState) =>
      log.warn({ chainInfo, beaconState }, 'the node reports two different beacon heights, also after a retry'),
  });
}

/** Logs each call to a host at level debug. @returns `undefined` where that level is off */
export function createCallLog(log: Log, host: string): ((call: UpstreamCall) => void) | undefined {
  if (!log.isLevelEnabled('debug')) return undefined;
  return ({ upstream, method, outcome, seconds }) =>
    log.debug({ upstream, host, method, outcome, ms: Math.round(seconds * 10_000) / 10 }, 'upstream call');
}

/** Logs when the node cannot be read, when its tip is far below the served height, and each head at level debug. */
export function createHeadLog(log: Log): HeadWatcher {
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

/** Logs a state that has lost pools. */
export function createLostPoolsLog(log: Log): (lost: LostPools) => void {
  return (lost) =>
    log.warn(
      lost,
      'an exchange state has fewer pools than the state at a lower height: the database of the node may be damaged',
    );
}
