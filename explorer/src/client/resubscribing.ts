import type { FormattedExecutionResult, Sink, SubscribePayload } from 'graphql-ws';
import { retryDelayMs } from './back-off.ts';
import { isRetryable, readResponseErrors, waitOf } from './errors.ts';
import type { Subscribe } from './transports.ts';

/**
 * Starts a subscription, and starts it again when the gateway has ended it for a reason that passes, such as its rate limit.
 * No subscription of the page ends by itself. The errors arrive as an update meanwhile.
 *
 * @returns a function that ends it
 */
export function resubscribing(
  subscribe: Subscribe,
  payload: SubscribePayload,
  sink: Sink<FormattedExecutionResult>,
  random: () => number = Math.random,
): () => void {
  let isEnded = false;
  let failures = 0;
  let newest: FormattedExecutionResult | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let end = start();

  function start(): () => void {
    newest = undefined;
    return subscribe(payload, {
      next(update) {
        newest = update;
        if (update.data != null) failures = 0;
        sink.next(update);
      },
      error(error) {
        // Without a response, graphql-ws has given up the websocket: only a reload can help.
        if (!Array.isArray(error)) {
          sink.error(error);
          return;
        }
        newest = { errors: error };
        sink.next(newest);
        endOrStartLater();
      },
      complete: endOrStartLater,
    });
  }

  function endOrStartLater(): void {
    // graphql-ws also reports the end of a subscription that the page has ended.
    if (isEnded) return;
    const errors = newest?.data == null ? readResponseErrors(newest?.errors) : [];
    if (!errors.every(isRetryable)) {
      sink.complete();
      return;
    }
    timer = setTimeout(() => {
      end = start();
    }, waitOf(errors) + retryDelayMs(failures, random));
    failures += 1;
  }

  return () => {
    isEnded = true;
    clearTimeout(timer);
    end();
  };
}
