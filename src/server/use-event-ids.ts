import type { ExecutionResult } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Context } from '../graphql/context.ts';
import { isStream } from './stream.ts';

/** The header with which a browser that lost a stream says which event it got last. */
export const LAST_EVENT_ID_HEADER = 'last-event-id';

/**
 * Gives each price update of a stream of events its height as the event's id, so that a reader that comes back goes on
 * after it. Yoga writes `data: ` and what `stringify` gives; a further field of the event may follow on a line of its own.
 */
export function useEventIds(): Plugin<Context> {
  return {
    onSubscribe({ args: { contextValue } }) {
      const { request, updates } = contextValue as Partial<YogaInitialContext> & Context;
      if (request === undefined) return {};
      return {
        onSubscribeResult: () => ({
          onNext({ result, setResult }) {
            const height = updates.newestPriceHeight();
            if (height !== undefined && !isStream(result)) setResult(withEventId(result, height));
          },
        }),
      };
    },
  };
}

/** A result that says how it is written. */
type Written = ExecutionResult & { stringify(sent: ExecutionResult): string };

function withEventId(result: ExecutionResult, height: BeaconHeight): Written {
  return { ...result, stringify: (sent) => `${JSON.stringify(sent)}\nid: ${height}` };
}
