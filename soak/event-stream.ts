import { request } from 'node:http';
import { addressHeader } from './client-address.ts';
import type { SoakContext } from './context.ts';
import type { GraphqlResponse } from './judge.ts';
import { MINIMUM } from './routes.ts';
import type { CheckedSubscription } from './subscriptions/subscription.ts';
import { checkMinimum, checkUpdate, isErrorUpdate } from './websocket-client.ts';

/** A subscription over server-sent events. */
type EventStream = {
  isOpen(): boolean;
  /** Stops reading without closing the connection. */
  stopReading(): void;
  /** Aborts the connection. */
  leave(): void;
  readonly closed: Promise<void>;
};

/** Opens a subscription of a client of this name, whose updates are judged. */
export function openEventStream(context: SoakContext, name: string, subscription: CheckedSubscription): EventStream {
  const { judge, signal, routes, served } = context;
  const since = performance.now();
  const url = routes.next();
  const names = routes.namesMinimum(name);
  let minimum = names && subscription.after === undefined ? served.highest() : 0;
  let isLeaving = false;
  let isOpen = true;
  let failed = false;
  let isOfError = false;

  function receive(answer: GraphqlResponse): void {
    isOfError = isErrorUpdate(subscription, answer);
    failed = answer.data == null && !isOfError;
    checkUpdate(context, name, subscription, answer, failed ? since : undefined);
    if (answer.data == null) return;
    checkMinimum(context, name, subscription, minimum);
    minimum = 0;
  }

  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...addressHeader(name),
    ...lastEvent(subscription),
    ...(names && { [MINIMUM]: String(served.highest()) }),
  };
  let hasVanished = false;
  let pauses = () => {};
  const asking = request(url, { method: 'POST', headers, agent: false }, (response) => {
    let text = '';
    let id: string | undefined;
    response.on('error', () => {});
    pauses = () => void response.pause();
    response.setEncoding('utf8').on('data', (chunk) => {
      const lines = `${text}${chunk}`.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data: {')) receive(JSON.parse(line.slice('data: '.length)));
        if (line.startsWith('id: ')) id = line.slice('id: '.length);
        // An event ends with an empty line, and its fields may come in any order.
        if (line !== '' || id === undefined) continue;
        if (!isOfError && id !== String(subscription.height()))
          judge.fail(`an event has the wrong id: ${subscription.kind} of ${name} at ${subscription.height()}: ${id}`);
        id = undefined;
        isOfError = false;
      }
    });
    if (hasVanished) pauses();
  });
  asking.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    asking.once('close', () => {
      isOpen = false;
      if (routes.explainsLoss(url, since)) judge.count('event streams lost with a gateway');
      else if (!isLeaving && !failed && !signal.aborted)
        judge.fail(`an event stream ended: ${subscription.kind} of ${name}`);
      resolve();
    });
  });
  asking.end(JSON.stringify({ query: subscription.query, variables: subscription.variables }));

  return {
    isOpen: () => isOpen,
    stopReading() {
      isLeaving = true;
      hasVanished = true;
      pauses();
    },
    leave() {
      isLeaving = true;
      asking.destroy();
    },
    closed,
  };
}

function lastEvent({ after }: CheckedSubscription): Record<string, string> {
  return after === undefined ? {} : { 'last-event-id': String(after) };
}
