import { createClient, type FormattedExecutionResult, type Sink, type SubscribePayload } from 'graphql-ws';
import { retryDelayMs } from './back-off.ts';
import { createEventStreams } from './event-streams.ts';
import { createStore, type Store } from './store.ts';
import { createTransports, type Transport } from './transports.ts';

/** The state of the connection. `since` is when it was lost, by the clock of this computer, in milliseconds. */
export type ConnectionState =
  | { readonly name: 'connecting' }
  | { readonly name: 'connected'; readonly over: Transport }
  | { readonly name: 'reconnecting' | 'disconnected'; readonly since: number };

/** The one websocket of the page, or event streams in its place. It reconnects by itself. */
export type Connection = {
  readonly state: Store<ConnectionState>;
  /** Starts a subscription. It survives a lost connection. @returns a function that ends it */
  subscribe(payload: SubscribePayload, sink: Sink<FormattedExecutionResult>): () => void;
  /** Calls a listener each time the connection is restored. @returns a function that ends it */
  onRestored(listener: () => void): () => void;
  /** Connects now instead of waiting for the next attempt. */
  retryNow(): void;
  /** Connects now if the connection is lost. Called when a request was successful: the gateway can be reached again. */
  retryIfLost(): void;
  dispose(): void;
};

/** How often an open websocket is pinged, and how long the pong may take. */
const PING_AFTER_MS = 12_000;
const PONG_WITHIN_MS = 5_000;

/** A browser itself waits minutes for an upgrade that is never answered. */
const CONNECT_WITHIN_MS = 15_000;

/** A websocket that is not open by then may be blocked, if the gateway answers requests. */
const SUSPECT_AFTER_MS = 5_000;

/** A websocket that breaks sooner is of no use: a proxy may have accepted it, and pass nothing on. */
const USEFUL_AFTER_MS = 30_000;

/** How often a page with event streams tries to open a websocket. It also does when the tab is shown or the network is back. */
const WEBSOCKET_AGAIN_AFTER_MS = 60_000;

/** From here on, an outage is more than a restart of the gateway. */
const DISCONNECTED_AFTER_MS = 15_000;

/**
 * Creates the connection, and opens it. `url` is that of the websocket.
 *
 * When a websocket cannot be opened, or breaks soon, while the gateway answers requests, the subscriptions move to event streams.
 * They move back as soon as a websocket is open. When the event streams are lost too, the search begins again.
 */
export function createConnection(url: string, random: () => number = Math.random): Connection {
  const httpUrl = url.replace(/^ws/, 'http');
  const state = createStore<ConnectionState>({ name: 'connecting' });
  const restored = new Set<() => void>();
  let endWait = () => {};
  /** The gateway has closed the connection for a reason for which a retry does not help. */
  let isOver = false;
  let isDisposed = false;
  /** When the websocket was opened; undefined while there is none. */
  let openedAt: number | undefined;
  /** How many attempts have failed since there was a useful websocket. */
  let failures = 0;
  /** Whether the gateway answers a request during an attempt. The first attempt may be at a gateway that is just restarting. */
  let isAnswering: Promise<boolean> | undefined;
  let suspecting: ReturnType<typeof setTimeout> | undefined;
  let givingUp: ReturnType<typeof setTimeout> | undefined;
  let waitingForPong: ReturnType<typeof setTimeout> | undefined;
  let waitingForConnection: ReturnType<typeof setTimeout> | undefined;

  function lost(): void {
    if ('since' in state.get()) return;
    const since = Date.now();
    state.set({ name: 'reconnecting', since });
    givingUp = setTimeout(() => state.set({ name: 'disconnected', since }), DISCONNECTED_AFTER_MS);
  }

  function reached(): void {
    clearTimeout(givingUp);
    const before = state.get();
    const over = transports.over();
    if (before.name === 'connected' && before.over === over) return;
    state.set({ name: 'connected', over });
    if (before.name === 'reconnecting' || before.name === 'disconnected')
      for (const listener of [...restored]) listener();
  }

  const streams = createEventStreams({
    url: httpUrl,
    onOpen: reached,
    onLost() {
      failures = 1;
      lost();
      transports.moveTo('websocket');
      endWait();
    },
    random,
  });

  const client = createClient({
    url,
    keepAlive: PING_AFTER_MS,
    // Also a page without subscriptions shows whether the gateway can be reached.
    lazy: false,
    onNonLazyError() {
      isOver = true;
    },
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait() {
      return new Promise((resolve) => {
        const waitMs =
          transports.over() === 'websocket' ? retryDelayMs(failures - 1, random) : WEBSOCKET_AGAIN_AFTER_MS;
        const timer = setTimeout(resolve, waitMs);
        endWait = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    on: {
      connecting() {
        waitingForConnection = setTimeout(() => client.terminate(), CONNECT_WITHIN_MS);
        isAnswering = failures > 0 ? answers(httpUrl) : undefined;
        suspecting = setTimeout(() => fallBackIf(isAnswering ?? answers(httpUrl)), SUSPECT_AFTER_MS);
      },
      connected() {
        endAttempt();
        openedAt = Date.now();
        transports.moveTo('websocket');
        reached();
      },
      closed() {
        endAttempt();
        clearTimeout(waitingForPong);
        if (openedAt !== undefined && Date.now() - openedAt >= USEFUL_AFTER_MS) failures = 0;
        else if (isAnswering !== undefined) fallBackIf(isAnswering);
        failures += 1;
        openedAt = undefined;
        if (transports.over() === 'websocket') lost();
      },
      ping(isReceived) {
        if (!isReceived) waitingForPong = setTimeout(() => client.terminate(), PONG_WITHIN_MS);
      },
      pong(isReceived) {
        if (isReceived) clearTimeout(waitingForPong);
      },
    },
  });

  function endAttempt(): void {
    clearTimeout(waitingForConnection);
    clearTimeout(suspecting);
  }

  async function fallBackIf(isReachable: Promise<boolean>): Promise<void> {
    if ((await isReachable) && openedAt === undefined && !isDisposed) transports.moveTo('event-streams');
  }

  const transports = createTransports({ websocket: client.subscribe, 'event-streams': streams.subscribe });

  const retryNow = () => (isOver && transports.over() === 'websocket' ? location.reload() : endWait());
  const retryIfVisible = () => {
    if (!document.hidden) retryNow();
  };
  window.addEventListener('online', retryNow);
  document.addEventListener('visibilitychange', retryIfVisible);

  return {
    state,
    subscribe: transports.subscribe,
    onRestored(listener) {
      restored.add(listener);
      return () => void restored.delete(listener);
    },
    retryNow,
    retryIfLost() {
      if ('since' in state.get()) endWait();
    },
    dispose() {
      isDisposed = true;
      window.removeEventListener('online', retryNow);
      document.removeEventListener('visibilitychange', retryIfVisible);
      clearTimeout(givingUp);
      clearTimeout(waitingForPong);
      endAttempt();
      streams.dispose();
      void client.dispose();
    },
  };
}

/** Whether the gateway answers a request now. */
async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{__typename}"}',
      signal: AbortSignal.timeout(CONNECT_WITHIN_MS),
    });
    return response.ok;
  } catch {
    return false;
  }
}
