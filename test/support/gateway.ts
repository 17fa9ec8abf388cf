import { setTimeout as sleep } from 'node:timers/promises';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { Agent, type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type App, createApp } from '../../src/compose/app.ts';
import type { HistoryStore } from '../../src/history/store.ts';
import type { Block } from '../../src/sandbox/chain/block.ts';
import { createSandboxHosts, type SandboxHosts, type SandboxHostsOptions } from '../../src/sandbox/sandbox.ts';
import type { BuiltExplorer } from '../../src/server/pages/explorer-files.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { redactorOf } from '../../src/settings/secrets.ts';
import type { Config } from '../../src/settings/settings.ts';
import { startTracing } from '../../src/tracing/start.ts';
import { readEvents } from './events.ts';
import { createKeptLog, type LogLine } from './log.ts';

/** What a test gets as an answer: anything of it can be looked at, nothing is typed unless the document is. */
export type Answer<Data = Record<string, unknown>> = {
  readonly data?: Data | null;
  readonly errors?: readonly AnswerError[];
};

export type AnswerError = {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
};

/** A gateway in this process, in front of a sandbox of its own: seed, clock and blocks are the test's. */
export type TestGateway = {
  readonly sandbox: SandboxHosts;
  readonly app: App;
  /** What the gateway has logged, from the level of its configuration on. */
  readonly lines: readonly LogLine[];
  /** What the gateway takes for now, in milliseconds since 1970; a test moves it. */
  readonly clock: { now: number };
  /** Sends an operation over HTTP, on a connection of its own. The gateway listens from then on, if it did not before. */
  ask<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Answer<Data>>;
  // biome-ignore lint/suspicious/noExplicitAny: what an untyped query answers is asserted, not typed
  ask(query: string, variables?: Record<string, unknown>): Promise<Answer<any>>;
  /** The events of a subscription over server-sent events, from the first on; leaving the loop ends it. */
  // biome-ignore lint/suspicious/noExplicitAny: what an untyped query answers is asserted, not typed
  subscribe(query: string, variables?: Record<string, unknown>): AsyncGenerator<Answer<any>, undefined>;
  /** Waits until everything was read once. No operation is sent for that. */
  untilReady(): Promise<void>;
  /** Waits until that height is served. */
  untilHeight(height: number): Promise<void>;
  /** Makes blocks, and waits until the newest is served. */
  advance(blocks?: number): Promise<void>;
};

/** What differs from the default of a test gateway. */
export type TestGatewayOptions = {
  readonly config?: Partial<Config>;
  /** The same, for what depends on where the sandbox is. */
  readonly configOf?: (sandbox: SandboxHosts) => Partial<Config>;
  /** Whether the gateway says that its data is simulated, as it is; `true` by default. */
  readonly isSandbox?: boolean;
  readonly sandbox?: SandboxHostsOptions;
  /** The sandbox of another gateway, in front of which this one is too. It is not closed with this one. */
  readonly of?: SandboxHosts;
  /** Done to the sandbox before the gateway first asks it. */
  readonly before?: (sandbox: SandboxHosts) => unknown;
  /** The built explorer; by default, it is off. */
  readonly explorer?: BuiltExplorer;
  /** The store of the history, which is then recorded. */
  readonly store?: HistoryStore;
  /** Leaves an upstream out. */
  readonly without?: 'NODE' | 'MARKET_DATA';
};

/** 2026-01-01T00:00:00Z: the time of the tip at the start, and the gateway's clock. */
export const START = Date.UTC(2026, 0, 1);

/** A time limit that no test waits for, however busy the machine is: it is above the timeout of a test. */
export const NEVER_MS = 3_600_000;

/** The blocks that a sandbox has: all that an operation may ask for, and some that nobody has read. */
const HISTORY = 200;

/** The blocks of the sandboxes that were started, by their options: a block never changes, and a day of them takes 80 ms. */
const pasts = new Map<string, readonly Block[]>();

/** Starts the sandbox of a test gateway. */
export async function startSandbox(differing: SandboxHostsOptions = {}): Promise<SandboxHosts> {
  const options = { seed: 7, startTime: START / 1000, history: HISTORY, ...differing };
  const key = JSON.stringify(options);
  const sandbox = await createSandboxHosts({ ...options, past: pasts.get(key) });
  if (!pasts.has(key)) pasts.set(key, [...sandbox.chain.blocks()]);
  return sandbox;
}

/** Starts a gateway that ends with the test or, called in a hook, with the returned `close`. */
export async function startGateway(
  options: TestGatewayOptions = {},
): Promise<TestGateway & { close(): Promise<void> }> {
  const sandbox = options.of ?? (await startSandbox(options.sandbox));
  await options.before?.(sandbox);
  const { store } = options;
  const clock = { now: START };
  const config: Config = {
    ...(readConfig([], {}) as Config),
    fullnodeUrl: options.without === 'NODE' ? [] : sandbox.nodeUrls.map((url) => new URL(url)),
    marketDataUrl: options.without === 'MARKET_DATA' ? undefined : new URL(sandbox.marketDataUrl),
    tokensFile: sandbox.chain.tokens
      .filter(({ symbol }) => symbol !== undefined)
      .map(({ id, symbol, decimals }) => ({ tokenId: id, symbol, decimals })),
    headPollMs: 50,
    // Polls of an idle gateway would cost more than most tests. A test that waits for new tickers sets less.
    marketPollMs: 500,
    upstreamMaxPauseMs: 100,
    // Its calls would come between those that tests count.
    bookSweepPerMinute: 0,
    stopWindowMs: 0,
    // As above: the gateway would look for V3.
    exchangeVersion: sandbox.chain.v3Pools.length > 0 ? 'auto' : 'v1',
    // Reads of past heights would come between the calls that tests count.
    historyDatabase: store === undefined ? 'off' : { kind: 'memory' },
    ...options.config,
    ...options.configOf?.(sandbox),
  };
  const { log, lines } = createKeptLog(redactorOf(config), config.logLevel);
  const tracing = await startTracing({ ...config, version: '0.0.0', log, timeoutMs: NEVER_MS });
  const now = () => clock.now;
  const { explorer = 'off' } = options;
  const isSandbox = options.isSandbox ?? true;
  const appOptions = { config, isSandbox, log, now, tracing, explorer, historyTimeoutMs: NEVER_MS };
  const app = listenOnce(createApp({ ...appOptions, ...(store && { createStore: () => store }) }));

  // Of its own: another gateway may have had its port, and connections to that one are about to close.
  const dispatcher = new Agent();

  async function post(query: unknown, variables: unknown, accept: string): Promise<Dispatcher.ResponseData> {
    return request(await app.listen(0, '127.0.0.1'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query, variables }),
      // A connection that stays open would be one more client.
      reset: true,
      dispatcher,
    });
  }

  async function ask(document: unknown, variables?: unknown): Promise<Answer<never>> {
    const query = typeof document === 'string' ? document : print(document as TypedDocumentNode);
    const { body } = await post(query, variables, 'application/json');
    return (await body.json()) as Answer<never>;
  }

  // biome-ignore lint/suspicious/noExplicitAny: what an untyped query answers is asserted, not typed
  async function* subscribe(query: string, variables?: object): AsyncGenerator<Answer<any>, undefined> {
    const response = await post(query, variables, 'text/event-stream');
    if (response.headers['content-type'] !== 'text/event-stream')
      throw new Error(`the subscription was refused: ${response.statusCode} ${await response.body.text()}`);
    yield* readEvents(response);
  }

  async function untilReady(): Promise<void> {
    const url = new URL('/ready', await app.listen(0, '127.0.0.1'));
    for (;;) {
      const { statusCode, body } = await request(url, { reset: true, dispatcher });
      await body.dump();
      if (statusCode === 200) return;
      await sleep(20);
    }
  }

  function untilHeight(height: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const subscription = app.service.sources.head.subscribe({
        onNext({ beaconHeight }) {
          if (beaconHeight < height) return subscription.request();
          subscription.cancel();
          resolve();
        },
        onError: reject,
        isInternal: true,
      });
      subscription.request();
    });
  }

  async function advance(blocks = 1): Promise<void> {
    sandbox.advance(blocks);
    await untilHeight(sandbox.chain.tip.height);
  }

  async function close(): Promise<void> {
    await app.close();
    if (options.of === undefined) await sandbox.close();
    await dispatcher.destroy();
  }

  return { sandbox, app, lines, clock, ask, subscribe, untilReady, untilHeight, advance, close };
}

/** The same app, whose port can be requested again: by `ask`, and by a test. */
function listenOnce(app: App): App {
  let url: Promise<string> | undefined;
  return {
    ...app,
    async listen(port, host) {
      const isListening = url !== undefined;
      url ??= app.listen(port, host);
      if (isListening && port !== 0) throw new Error(`the gateway listens at ${await url}`);
      return url;
    },
  };
}

/** Starts a gateway for one test. */
export async function startGatewayForTest(options?: TestGatewayOptions): Promise<TestGateway> {
  const gateway = await startGateway(options);
  onTestFinished(gateway.close);
  return gateway;
}

/** Starts a gateway that listens and is ready, for all tests of a file or of a `describe`. What is returned is empty until they run. */
export function startGatewayForTests(options?: TestGatewayOptions): TestGateway & { readonly url: string } {
  const shared = {} as TestGateway & { url: string };
  let close: (() => Promise<void>) | undefined;
  afterAll(() => close?.());
  beforeAll(async () => {
    const gateway = await startGateway(options);
    close = gateway.close;
    Object.assign(shared, gateway);
    shared.url = await shared.app.listen(0, '127.0.0.1');
    await shared.untilReady();
  });
  return shared;
}
