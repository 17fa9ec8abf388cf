import type { Upstream } from './errors.ts';
import type { Watcher } from './live/follower.ts';
import { describeError, type Log } from './log.ts';
import type { NodeClient } from './upstream/node/client.ts';

/**
 * Tells the log when an upstream breaks and when it can be read again: once each, however many things are followed there.
 *
 * @returns makes a watcher for each thing that is followed
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
 * Tells the log when one of several nodes breaks and when it answers again. What is told of the upstream as a whole is enough
 * where there is only one.
 *
 * @returns makes a watcher for each node
 */
export function createNodeLog(log: Log, nodes: number): (node: NodeClient) => Watcher {
  return ({ name: node }) => ({
    failed(error) {
      if (nodes > 1) log.warn({ node, ...describeError(error) }, 'one of the nodes cannot be read');
    },
    recovered() {
      if (nodes > 1) log.info({ node }, 'one of the nodes can be read again');
    },
  });
}
