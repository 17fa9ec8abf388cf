import type { FormattedExecutionResult, Sink, SubscribePayload } from 'graphql-ws';

/** How updates reach the page: over event streams while no websocket can be opened. */
export type Transport = 'websocket' | 'event-streams';

/** Starts a subscription. @returns a function that ends it */
export type Subscribe = (payload: SubscribePayload, sink: Sink<FormattedExecutionResult>) => () => void;

/** The subscriptions of the page, which can move from one transport to the other. */
type Transports = {
  /** The transport that is used; the websocket at first. */
  over(): Transport;
  /** Ends all subscriptions on the other transport, and starts them on this one, where they resume. */
  moveTo(transport: Transport): void;
  readonly subscribe: Subscribe;
};

/** A subscription of the page. `stop` ends it on the transport on which it is. */
type Running = { readonly payload: SubscribePayload; readonly sink: Sink<FormattedExecutionResult>; stop(): void };

/** Creates the transports from their functions that start a subscription. */
export function createTransports(subscribeOver: Readonly<Record<Transport, Subscribe>>): Transports {
  const running = new Set<Running>();
  let over: Transport = 'websocket';

  function start(subscription: Running): void {
    let isCurrent = true;
    /** What a transport reports of a subscription that has left it, such as its end, is of no interest. */
    const ifCurrent = (report: () => void, isLast: boolean) => {
      if (!isCurrent) return;
      if (isLast) running.delete(subscription);
      report();
    };
    const { payload, sink } = subscription;
    const end = subscribeOver[over](payload, {
      next: (update) => ifCurrent(() => sink.next(update), false),
      error: (error) => ifCurrent(() => sink.error(error), true),
      complete: () => ifCurrent(() => sink.complete(), true),
    });
    subscription.stop = () => {
      isCurrent = false;
      end();
    };
  }

  return {
    over: () => over,
    moveTo(transport) {
      if (over === transport) return;
      over = transport;
      for (const subscription of [...running]) {
        subscription.stop();
        start(subscription);
      }
    },
    subscribe(payload, sink) {
      const subscription: Running = { payload, sink, stop() {} };
      running.add(subscription);
      start(subscription);
      return () => {
        running.delete(subscription);
        subscription.stop();
      };
    },
  };
}
