import { type BeaconHeight, newestFinal } from '../../domain/beacon-height.ts';
import type { Service } from '../../graphql/context.ts';
import type { HistoryStatus } from '../../history/history.ts';
import { unreadableRows } from '../../live/market/market-follower.ts';
import type { Sources } from '../../loaders/sources.ts';
import type { MetricFactory } from './metric-factory.ts';
import { readinessProblems } from './readiness.ts';

/** Registers the metrics of what the gateway follows. */
export function registerSourceMetrics(service: Service, metrics: MetricFactory): void {
  registerFleetMetrics(service.fleet, metrics);
  const { gaugeOf, counterOf } = metrics;
  const { sources, now, upstreams } = service;
  const { head, history, nodes, pushes, market, orderBooks, divergences, tokens } = sources;
  const subscriptions = { head, tickers: market.tickers, order_books: orderBooks, divergences };

  gaugeOf(
    'pdex_head_beacon_height',
    'Newest beacon height that the gateway serves.',
    () => head.current()?.beaconHeight,
  );
  gaugeOf(
    'pdex_head_age_seconds',
    'Time since the gateway read the newest beacon height, in seconds. NaN before the first one.',
    () => secondsSince(head.current()?.observedAt),
  );
  gaugeOf(
    'pdex_head_block_age_seconds',
    'Age of the newest block, in seconds. 0 if the time of the block is in the future, NaN before the first block.',
    () => Math.max(0, secondsSince(head.current()?.time)),
  );
  gaugeOf(
    'pdex_head_stale',
    '1 while the node cannot be read, no new block arrives, or the newest block is too old; otherwise 0.',
    () => Number(head.isStale()),
  );
  gaugeOf(
    'pdex_market_data_age_seconds',
    'Time since the gateway read pairs and tickers, in seconds. If the two differ, the longer time. NaN before the first time.',
    () => secondsSince(market.freshness()?.observedAt),
  );
  gaugeOf(
    'pdex_tokens_age_seconds',
    'Time since the gateway read the token service, in seconds. NaN before the first time.',
    () => secondsSince(tokens.status?.observedAt()),
  );
  gaugeOf(
    'pdex_tokens_skipped_entries',
    'Entries of the token service that were skipped because they are invalid.',
    () => tokens.status?.skipped(),
  );
  gaugeOf('pdex_tokens', 'Tokens in the token list.', () => tokens.current().size);
  gaugeOf('pdex_order_books_followed', 'Order books that the gateway reads regularly for subscribers.', () =>
    orderBooks.followed(),
  );
  gaugeOf(
    'pdex_not_ready{code}',
    '1 for each reason (label code) for which /ready responds with 503. No samples while the gateway is ready.',
    () => readinessProblems(service).map(({ code }) => [code, 1]),
  );
  gaugeOf(
    'pdex_upstream_healthy{upstream}',
    '1 if an upstream is configured and the last request to it, or to any of several nodes, succeeded; otherwise 0.',
    () => upstreams().map(({ upstream, healthy }) => [upstream, Number(healthy)]),
  );
  gaugeOf(
    'pdex_node_beacon_height{host}',
    'Newest beacon height that a node reported in the last check. 0 if the node did not respond.',
    () => nodes.status().map(({ name, tip }) => [name, tip?.height ?? 0]),
  );
  gaugeOf(
    'pdex_node_pruned_beacon_height{host}',
    'Highest beacon height that a node is known to have pruned. 0 if none is known.',
    () => nodes.status().map(({ name, prunedHeight }) => [name, prunedHeight ?? 0]),
  );
  gaugeOf(
    'pdex_node_call_spacing_seconds{host}',
    'Minimum time between two requests to a node that limits their rate, in seconds. 0 if the node does not limit it.',
    () => nodes.status().map(({ name, spaceMs }) => [name, spaceMs / 1_000]),
  );
  gaugeOf(
    'pdex_node_read{host}',
    '1 for the node from which the gateway read the newest beacon height; otherwise 0.',
    () => nodes.status().map(({ name }) => [name, Number(head.current()?.source.name === name)]),
  );
  gaugeOf(
    'pdex_push_connected{host}',
    '1 while the websocket on which a node pushes new blocks is open; otherwise 0.',
    () => pushes.map(({ name, status }) => [name, Number(status().isOpen)]),
  );
  counterOf('pdex_push_frames_total{host}', 'Frames of blocks that a node has pushed.', () =>
    pushes.map(({ name, status }) => [name, status().frames]),
  );
  counterOf('pdex_push_reconnects_total{host}', 'How often the websocket to a node was opened again.', () =>
    pushes.map(({ name, status }) => [name, status().reconnects]),
  );
  counterOf(
    'pdex_trade_mismatches_total',
    'Pools whose amounts differ from what the trades of a block give. A pool counts once for each such block. The node or the gateway is wrong.',
    () => sources.trades.mismatches(),
  );
  gaugeOf(
    'pdex_history_state{state}',
    '1 for the state of the recorded history: off, starting, recording, failing (the database cannot be used now), or refused (only the operator can mend the database).',
    () => [[history.status().state, 1]],
  );
  gaugeOf(
    'pdex_history_recorded_beacon_height',
    'Highest recorded beacon height. 0 if nothing is recorded.',
    () => history.status().coverage?.last.beaconHeight,
  );
  gaugeOf('pdex_history_heights', 'Recorded beacon heights.', () => history.status().coverage?.heights);
  gaugeOf(
    'pdex_history_missing_heights',
    'Beacon heights between the first and the last recorded one that are not recorded.',
    () => missingHeights(history.status()),
  );
  gaugeOf(
    'pdex_history_lag_heights',
    'Final beacon heights above the highest recorded one. 0 if nothing is recorded.',
    () => lagHeights(history.status(), head.current()?.beaconHeight),
  );
  gaugeOf(
    'pdex_history_waiting_heights',
    'Final beacon heights that wait to be recorded.',
    () => history.status().waiting,
  );
  gaugeOf('pdex_history_backfilling', '1 while missing beacon heights are being read from the node; otherwise 0.', () =>
    Number(history.isBackfilling()),
  );
  counterOf(
    'pdex_history_backfill_reads_total',
    'Missing beacon heights that were read from the node.',
    () => history.status().backfillReads,
  );
  gaugeOf(
    'pdex_history_trade_blocks',
    'Blocks whose trades are recorded.',
    () => history.status().tradeCoverage?.blocks,
  );
  counterOf(
    'pdex_history_trade_reads_total',
    'Earlier blocks that were read from the node for their trades.',
    () => history.status().tradeReads,
  );
  counterOf(
    'pdex_history_trade_read_bytes_total',
    'Bytes of the responses with earlier blocks, without compression.',
    () => history.status().tradeReadBytes,
  );
  counterOf(
    'pdex_history_database_errors_total',
    'Operations of the database of the history that failed.',
    () => history.status().databaseErrors,
  );
  gaugeOf(
    'pdex_market_data_dropped_rows{list}',
    'Rows of the last response for pairs and tickers that could not be read, or not completely; entries that could not be read of the order books that were read within the last minute.',
    () => Object.entries(unreadableParts(sources)),
  );
  gaugeOf(
    'pdex_subscriptions{source}',
    'Open subscriptions of clients, by source: head (also prices, quotes, candles, trades and crossed prices), tickers, order_books or divergences.',
    () => Object.entries(subscriptions).map(([source, { subscribers }]) => [source, subscribers()]),
  );
  counterOf(
    'pdex_updates_skipped_total{source}',
    'Updates that slow subscribers skipped because a newer one was available, by source.',
    () => Object.entries(subscriptions).map(([source, { skippedValues }]) => [source, skippedValues()]),
  );

  function secondsSince(instant = Number.NaN): number {
    return (now() - instant) / 1_000;
  }
}

/** How much of the market data could not be read, by endpoint: rows of the lists, and entries of order books. */
export function unreadableParts({ market, orderBooks }: Pick<Sources, 'market' | 'orderBooks'>) {
  return {
    pairs: unreadableRows(market.pairs),
    tickers: unreadableRows(market.tickers),
    orderbook: orderBooks.unreadableEntries(),
  };
}

function missingHeights({ coverage }: HistoryStatus): number | undefined {
  return coverage && coverage.last.beaconHeight - coverage.first.beaconHeight + 1 - coverage.heights;
}

function lagHeights({ coverage }: HistoryStatus, tip: BeaconHeight | undefined): number | undefined {
  return coverage && tip && Math.max(0, newestFinal(tip) - coverage.last.beaconHeight);
}

/** Registers the metrics of the fleet. Without a fleet there are none. */
function registerFleetMetrics(status: Service['fleet'], { gaugeOf, counterOf }: MetricFactory): void {
  if (status === undefined) return;

  gaugeOf(
    'pdex_fleet_replicas',
    'Gateways of the fleet, with this one; 1 while it cannot use Redis.',
    () => status().replicas,
  );
  gaugeOf(
    'pdex_fleet_connected',
    '1 while the gateway reads together with the others; 0 while it cannot use Redis, or the fleet follows another chain.',
    () => Number(status().isConnected),
  );
  gaugeOf(
    'pdex_fleet_lag_seconds',
    'Time from when another gateway had read the newest beacon height until this one had it, in seconds; 0 if this one has read it.',
    () => status().lagMs / 1_000,
  );
  counterOf('pdex_fleet_redis_errors_total', 'Commands to Redis that failed.', () => status().redisErrors);
}
