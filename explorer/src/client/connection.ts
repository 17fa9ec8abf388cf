import { createClient, type FormattedExecutionResult, type Sink, type SubscribePayload } from 'graphql-ws';
import { retryDelayMs } from './back-off.ts';
import { createStore, type Store } from './store.ts';

/**
 * The state of the websocket. `since` is when it was lost, and `failedAt` when the last attempt to open it has failed, by the
 * clock of this computer, in milliseconds.
 */
export type ConnectionState =
  | { readonly name: 'connecting' }
  | { readonly name: 'connected' }
  | { readonly name: 'reconnecting' | 'disconnected'; readonly since: number; readonly failedAt: number };

/** The one websocket of the page. It reconnects by itself. */
export type Connection = {
  readonly state: Store<ConnectionState>;
  /** Starts a subscription. It survives a lost connection. @returns a function that ends it */
  subscribe(payload: SubscribePayload, sink: Sink<FormattedExecutionResult>): () => void;
  /** Calls a listener each time the connection is restored. @returns a function that ends it */
  onRestored(listener: () => void): () => void;
  /** Connects now instead of waiting for the next attempt. */
  retryNow(): void;
  dispose(): void;
};

/** How often an open websocket is pinged, and how long the pong may take. */
const PING_AFTER_MS = 12_000;
const PONG_WITHIN_MS = 5_000;

/** A browser itself waits minutes for an upgrade that is never answered. */
const CONNECT_WITHIN_MS = 15_000;

/** From here on, an outage is more than a restart of the gateway. */
const DISCONNECTED_AFTER_MS = 15_000;

/** Creates the connection, and opens it. */
export function createConnection(url: string, random: () => number = Math.random): Connection {
  const state = createStore<ConnectionState>({ name: 'connecting' });
  const restored = new Set<() => void>();
  let endWait = () => {};
  /** The gateway has closed the connection for a reason for which a retry does not help. */
  let isOver = false;
  let givingUp: ReturnType<typeof setTimeout> | undefined;
  let waitingForPong: ReturnType<typeof setTimeout> | undefined;
  let waitingForConnection: ReturnType<typeof setTimeout> | undefined;

  function lost(): void {
    clearTimeout(waitingForConnection);
    clearTimeout(waitingForPong);
    const before = state.get();
    const failedAt = Date.now();
    if ('since' in before) {
      state.set({ ...before, failedAt });
      return;
    }
    state.set({ name: 'reconnecting', since: failedAt, failedAt });
    givingUp = setTimeout(() => {
      const lost = state.get();
      if ('since' in lost) state.set({ ...lost, name: 'disconnected' });
    }, DISCONNECTED_AFTER_MS);
  }

  function connected(): void {
    clearTimeout(waitingForConnection);
    clearTimeout(givingUp);
    const isRestored = state.get().name !== 'connecting';
    state.set({ name: 'connected' });
    if (isRestored) for (const listener of [...restored]) listener();
  }

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
    retryWait(retries) {
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, retryDelayMs(retries, random));
        endWait = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
    on: {
      connecting() {
        waitingForConnection = setTimeout(() => client.terminate(), CONNECT_WITHIN_MS);
      },
      connected,
      closed: lost,
      ping(isReceived) {
        if (!isReceived) waitingForPong = setTimeout(() => client.terminate(), PONG_WITHIN_MS);
      },
      pong(isReceived) {
        if (isReceived) clearTimeout(waitingForPong);
      },
    },
  });

  const retryNow = () => (isOver ? location.reload() : endWait());
  const retryIfVisible = () => {
    if (!document.hidden) retryNow();
  };
  window.addEventListener('online', retryNow);
  document.addEventListener('visibilitychange', retryIfVisible);

  return {
    state,
    subscribe: (payload, sink) => client.subscribe(payload, sink),
    onRestored(listener) {
      restored.add(listener);
      return () => void restored.delete(listener);
    },
    retryNow,
    dispose() {
      window.removeEventListener('online', retryNow);
      document.removeEventListener('visibilitychange', retryIfVisible);
      clearTimeout(givingUp);
      clearTimeout(waitingForPong);
      clearTimeout(waitingForConnection);
      void client.dispose();
    },
  };
}
