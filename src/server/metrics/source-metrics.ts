import { Counter, Gauge, type Registry } from 'prom-client';
import type { Service } from '../../graphql/context.ts';

/** Registers what the gateway follows: each figure is read when somebody asks for it. */
export function describeSources({ sources, now, upstreams }: Service, registry: Registry): void {
  const { head, nodes, market, orderBooks } = sources;
  const registers = [registry];

  gauge('pdex_head_beacon_height', 'The newest beacon height that is served.', () => head.current()?.beaconHeight);
  gauge('pdex_head_age_seconds', 'How long ago the newest height was read.', () =>
    secondsSince(head.current()?.observedAt),
  );
  gauge('pdex_head_stale', '1 while the node cannot be read or no block comes.', () => Number(head.isStale()));
  gauge('pdex_market_data_age_seconds', 'How long ago the older of pairs and tickers was read.', () =>
    secondsSince(market.freshness()?.observedAt),
  );
  gauge('pdex_order_books_followed', 'Order books that are read for subscribers.', () => orderBooks.followed());

  new Gauge({
    name: 'pdex_upstream_healthy',
    help: '1 where an upstream is configured and its last call succeeded.',
    labelNames: ['upstream'],
    registers,
    collect() {
      for (const { upstream, healthy } of upstreams()) this.set({ upstream }, Number(healthy));
    },
  });
  new Gauge({
    name: 'pdex_node_beacon_height',
    help: 'The tip that a node showed when it was last looked at; 0 where it did not answer.',
    labelNames: ['host'],
    registers,
    collect() {
      for (const { name, height } of nodes.status()) this.set({ host: name }, height ?? 0);
    },
  });
  new Gauge({
    name: 'pdex_node_read',
    help: '1 for the node that the newest height was read from.',
    labelNames: ['host'],
    registers,
    collect() {
      for (const { name } of nodes.status()) this.set({ host: name }, Number(head.current()?.source.name === name));
    },
  });
  new Gauge({
    name: 'pdex_market_data_dropped_rows',
    help: 'Rows of the last reading of a list that could not be read.',
    labelNames: ['list'],
    registers,
    collect() {
      this.set({ list: 'pairs' }, market.pairs.current()?.dropped ?? 0);
      this.set({ list: 'tickers' }, market.tickers.current()?.dropped ?? 0);
    },
  });
  new Gauge({
    name: 'pdex_subscriptions',
    help: 'Subscriptions open now, by what they listen to; head stands for heads and prices.',
    labelNames: ['source'],
    registers,
    collect() {
      for (const [source, { listeners }] of heard()) this.set({ source }, listeners());
    },
  });
  new Counter({
    name: 'pdex_updates_skipped_total',
    help: 'Updates that a listener did not take before a newer one came, by what it listens to.',
    labelNames: ['source'],
    registers,
    collect() {
      this.reset();
      for (const [source, { skipped }] of heard()) this.inc({ source }, skipped());
    },
  });

  function heard() {
    return [
      ['head', head],
      ['tickers', market.tickers],
      ['order_books', orderBooks],
    ] as const;
  }

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

  function secondsSince(instant: number | undefined): number | undefined {
    return instant === undefined ? undefined : (now() - instant) / 1_000;
  }
}
