import type { Plugin } from 'graphql-yoga';
import { type AsyncValues, mapAsyncValues, toAsyncValues } from '../../live/broadcast/async-values.ts';
import type { Subscribe } from '../../live/broadcast/subscriber.ts';
import type { EncodedUpdate } from '../operations/encoded-update.ts';
import type { SubscriptionGroups } from '../operations/subscription-groups.ts';

/**
 * Lets every subscription join the group of its operation, in the place of executing its updates for itself.
 *
 * The doors take the updates from the groups, as they were written. Results are given to whatever else reads the stream.
 */
export function useUpdateGroups(groups: SubscriptionGroups): Plugin {
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(async (args) => {
        const updates = await groups.subscribe(args);
        return typeof updates === 'function' ? resultsOf(updates) : updates;
      });
    },
  };
}

function resultsOf(updates: Subscribe<EncodedUpdate>): AsyncValues<unknown> {
  return mapAsyncValues(toAsyncValues(updates), (update) => JSON.parse(update.toText()));
}
