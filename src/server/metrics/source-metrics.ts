import { Counter, Gauge, type Registry } from 'prom-client';
import type { Service } from '../../graphql/context.ts';
import { readinessProblems } from '../pages/health.ts';

/** Registers the gauges of what the gateway follows. Each value is read when Prometheus reads the metrics. */
export function registerSourceMetrics(service: Service, registry: Registry): void {
  const { sources, now, upstreams } = service;
  const { head, nodes, market, orderBooks } = sources;
  const registers = [registry];
  const subscriptions = { head, tickers: market.tickers, order_books: orderBooks };

  gauge('pdex_head_beacon_height', 'Newest beacon height that the gateway serves.', () => head.current()?.beaconHeight);
  gauge('pdex_head_age_seconds', 'Time since the gateway read the newest beacon height, in seconds.', () =>
    secondsSince(head.current()?.observedAt),
  );
  gauge(
    'pdex_head_block_age_seconds',
    'Age of the newest block, in seconds. 0 if the time of the block is in the future.',
    () => {
      const age = secondsSince(head.current()?.time);
      return age === undefined ? undefined : Math.max(0, age);
    },
  );
  gauge(
    'pdex_head_stale',
    '1 while the node cannot be read, no new block arrives, or the newest block is too old; otherwise 0.',
    () => Number(head.isStale()),
  );
  gauge(
    'pdex_market_data_age_seconds',
    'Time since the gateway read pairs and tickers, in seconds. If the two differ, the longer time.',
    () => secondsSince(market.freshness()?.observedAt),
  );
  gauge('pdex_order_books_followed', 'Order books that the gateway reads regularly for subscribers.', () =>
    orderBooks.followed(),
  );
  gaugeOfEach(
    'pdex_not_ready',
    '1 for each reason (label code) for which /ready responds with 503. No samples while the gateway is ready.',
    'code',
    () => readinessProblems(service).map(({ code }) => [code, 1]),
  );
  gaugeOfEach(
    'pdex_upstream_healthy',
    '1 if an upstream is configured and the last request to it succeeded; otherwise 0.',
    'upstream',
    () => upstreams().map(({ upstream, healthy }) => [upstream, Number(healthy)]),
  );
  gaugeOfEach(
    'pdex_node_beacon_height',
    'Newest beacon height that a node reported in the last check. 0 if the node did not respond.',
    'host',
    () => nodes.status().map(({ name, height }) => [name, height ?? 0]),
  );
  gaugeOfEach(
    'pdex_node_pruned_beacon_height',
    'Highest beacon height that a node is known to have pruned. 0 if none is known.',
    'host',
    () => nodes.status().map(({ name, prunedHeight }) => [name, prunedHeight ?? 0]),
  );
  gaugeOfEach(
    'pdex_node_call_spacing_seconds',
    'Minimum time between two requests to a node that limits their rate, in seconds. 0 if the node does not limit it.',
    'host',
    () => nodes.status().map(({ name, spaceMs }) => [name, spaceMs / 1_000]),
  );
  gaugeOfEach(
    'pdex_node_read',
    '1 for the node from which the gateway read the newest beacon height; otherwise 0.',
    'host',
    () => nodes.status().map(({ name }) => [name, Number(head.current()?.source.name === name)]),
  );
  gaugeOfEach(
    'pdex_market_data_dropped_rows',
    'Rows of the last response for a list that were dropped because they were invalid.',
    'list',
    () => [
      ['pairs', market.pairs.current()?.dropped ?? 0],
      ['tickers', market.tickers.current()?.dropped ?? 0],
    ],
  );
  gaugeOfEach(
    'pdex_subscriptions',
    'Open subscriptions, by source: head (heads and prices), tickers or order_books.',
    'source',
    () => Object.entries(subscriptions).map(([source, { subscribers }]) => [source, subscribers()]),
  );
  new Counter({
    name: 'pdex_updates_skipped_total',
    help: 'Updates that slow subscribers skipped because a newer one was available, by source.',
    labelNames: ['source'],
    registers,
    collect() {
      this.reset();
      for (const [source, { skippedValues }] of Object.entries(subscriptions)) this.inc({ source }, skippedValues());
    },
  });

  function gauge(name: string, help: string, read: () => number | undefined): void {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read();
        if (value === undefined) this.reset();
        else this.set(value);
      },
    });
  }

  /** A gauge with one label, and a value for each of its label values. */
  function gaugeOfEach(name: string, help: string, label: string, read: () => [string, number][]): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      collect() {
        this.reset();
        for (const [labelValue, value] of read()) this.set({ [label]: labelValue }, value);
      },
    });
  }

  function secondsSince(instant: number | undefined): number | undefined {
    return instant === undefined ? undefined : (now() - instant) / 1_000;
  }
}
