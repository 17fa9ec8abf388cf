import { versionOf } from '../domain/exchange.ts';
import { MAX_FOLLOWED_HEADS } from '../history/followed-heads.ts';
import { createExchangeVersions } from '../live/chain/exchange-versions.ts';
import type { Head } from '../live/chain/head.ts';
import { createHeadFollower } from '../live/chain/head-follower.ts';
import { createHeadTrades } from '../live/chain/head-trades.ts';
import { createNodes } from '../live/chain/nodes.ts';
import { createPastStates } from '../live/chain/past-states.ts';
import { createPoolCounts } from '../live/chain/pool-counts.ts';
import { createPoolOrders } from '../live/chain/pool-orders.ts';
import { createRecentHeads } from '../live/chain/recent-heads.ts';
import { nodesNotConfigured } from '../live/not-configured.ts';
import { createHeadLog, createNodeLog, createPushLog, createTradesLog } from '../logging/upstream-log.ts';
import { healthOfAll } from '../upstream/health.ts';
import { type BlockPush, createBlockPush } from '../upstream/node/block-push.ts';
import { createNodeClient } from '../upstream/node/client.ts';
import { createPoolDirectories } from '../upstream/node/pools-reader.ts';
import { createPoolsV3Reader } from '../upstream/node/pools-v3.ts';
import type { PushedBlock } from '../upstream/node/push-session.ts';
import { createSpacing } from '../upstream/spacing.ts';
import {
  bulkheadOf,
  circuitOf,
  healthOf,
  httpOf,
  notConfigured,
  roomForClients,
  type SourceOptions,
} from './upstreams.ts';

/** A state of the main network has 30 MB; this leaves room to grow. */
const MAX_STATE_BYTES = 128 * 2 ** 20;

/** The time between two calls to a node after it has first rejected one with status 429. */
const FIRST_SPACE_MS = 250;

/** The time after which the trades of a block are read again that could not be read, unless the maximum back-off is shorter. */
const TRADES_RETRY_MS = 10_000;

/**
 * How many blocks are read for clients at once. They have a queue of their own: one block can take three times the timeout of the
 * upstream, and earlier heights must not wait for that.
 */
const BLOCKS_AT_ONCE = 2;

/** With a fixed version, this gateway reads no state of the other one itself. */
const OTHER_VERSION =
  'another gateway of the fleet publishes another version of the exchange than EXCHANGE_VERSION: give it the same value, or another REDIS_PREFIX';

const POOLS_LOST =
  'an exchange state has fewer pools than the state at a lower height: the database of the node may be damaged';

/** The settings of the version. */
const FIXED_VERSIONS = { auto: undefined, v1: 'V1', v3: 'V3' } as const;

/** Starts to follow the chain of the configured nodes, which may have websockets. If none is configured, each read fails. */
export function connectNodes(options: SourceOptions) {
  const { config, log, now, tracing, fleet } = options;
  const { fullnodeUrl, headPollMs: pollMs, upstreamTimeoutMs: timeoutMs } = config;
  const headers = config.fullnodeHeaders;
  const http = httpOf(options, { upstream: 'NODE', maxBytes: MAX_STATE_BYTES, keepAlive: false, headers });
  const directories = createPoolDirectories();
  const poolsV3Reader = createPoolsV3Reader(directories);
  const [first, ...others] = fullnodeUrl.map((url, n) => {
    const name = nameOf(url, fullnodeUrl.slice(0, n));
    const health = healthOf(options, 'NODE', name);
    const circuit = circuitOf(options, 'NODE', name);
    const spacing = createSpacing(Math.min(FIRST_SPACE_MS, config.upstreamMaxPauseMs));
    return createNodeClient({ name, http, url, health, circuit, spacing, directories, poolsV3Reader });
  });
  if (first === undefined) {
    const none = notConfigured(nodesNotConfigured(), healthOf(options, 'NODE', 'none'));
    return { ...none, onHead() {}, unsubscribe: async () => {} };
  }

  const fixed = FIXED_VERSIONS[config.exchangeVersion];
  const versions = createExchangeVersions({
    fixed,
    probeMs: config.exchangeProbeMs,
    onChange(version) {
      log.info({ exchangeVersion: version }, `the pools of version ${version.slice(1)} of the exchange trade`);
    },
  });
  const nodes = createNodes({
    clients: [first, ...others],
    versions,
    timeoutMs,
    graceMs: pollMs / 2,
    maxPauseMs: config.upstreamMaxPauseMs,
    watch: createNodeLog(log, fullnodeUrl.length),
  });
  const poolCounts = createPoolCounts((lost) => log.warn(lost, POOLS_LOST));
  const fleetChain = fleet?.chain(nodes, directories.of);
  const recent = createRecentHeads(config.maxResumedHeights);
  const bulkhead = bulkheadOf(options, 'NODE', Math.max(1, roomForClients(config) - BLOCKS_AT_ONCE));
  const reads = { nodes, bulkhead, served: recent.all };
  const pastStates = createPastStates({ ...reads, versions, poolCounts, readOnce: fleetChain?.states });
  const poolOrders = createPoolOrders(reads);
  const trades = createHeadTrades({
    ...reads,
    bulkhead: bulkheadOf(options, 'NODE', BLOCKS_AT_ONCE),
    // A response can need the trades of each head that is not recorded.
    maxBlocks: Math.max(config.maxResumedHeights, MAX_FOLLOWED_HEADS),
    retryMs: Math.min(TRADES_RETRY_MS, config.upstreamMaxPauseMs),
    watcher: createTradesLog(log),
    readOnce: fleetChain?.trades,
  });
  const headLog = createHeadLog(log);
  const headListeners: ((head: Head) => void)[] = [headLog.published, trades.published];
  let isOtherVersionLogged = false;
  headListeners.push(({ exchange }) => {
    const exchangeVersion = versionOf(exchange);
    if (isOtherVersionLogged || fixed === undefined || exchangeVersion === fixed) return;
    isOtherVersionLogged = true;
    log.warn({ exchangeVersion }, OTHER_VERSION);
  });
  const head = createHeadFollower({
    nodes,
    versions,
    poolCounts,
    pollMs,
    timeoutMs,
    maxBlockAgeMs: config.maxBlockAgeMs,
    recent,
    now,
    watcher: {
      ...headLog,
      published(head) {
        for (const listener of headListeners) listener(head);
      },
    },
    fleetPoll: fleetChain?.heads(pastStates),
    tracing,
  });
  const pushes: readonly BlockPush[] = config.fullnodeWsUrl.flatMap((url, n) => {
    const name = nodes.all[n]?.name;
    if (url === undefined || name === undefined) return [];
    const onBlock = (block: PushedBlock) => {
      trades.received(block);
      head.push.received(block);
    };
    const { changed: onChange } = head.push;
    const watcher = createPushLog(log, name);
    return [createBlockPush({ name, url, headers, proxies: config, timeoutMs, onBlock, onChange, watcher })];
  });
  return {
    sources: { head, nodes, pastStates, poolOrders, pushes, trades },
    health: () => healthOfAll(nodes.status().map(({ health }) => health)),
    /** Calls a function with each head that is published from now on. */
    onHead: (listener: (head: Head) => void) => void headListeners.push(listener),
    /** Ends the subscriptions to new blocks, and closes the websockets. */
    async unsubscribe() {
      await Promise.all(pushes.map((push) => push.close()));
    },
    disconnect: http.close,
  };
}

/** The host of a URL, with a number if several URLs have the same. The path can have a key, so it is left out. */
function nameOf({ host }: URL, before: readonly URL[]): string {
  const same = before.filter((url) => url.host === host).length;
  return same === 0 ? host : `${host} (${same + 1})`;
}
