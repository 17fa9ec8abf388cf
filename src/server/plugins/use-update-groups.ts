import type { Plugin } from 'graphql-yoga';
import { mapValues, type Values, valuesOf } from '../../live/iterate.ts';
import type { Listen } from '../../live/listen.ts';
import type { MadeUpdate } from '../updates/made-update.ts';
import type { UpdateGroups } from '../updates/update-groups.ts';

/**
 * Lets every subscription join the group of its operation, in the place of executing its updates for itself.
 *
 * The doors take the updates from the groups, as they were written. Results are given to whatever else reads the stream.
 */
export function useUpdateGroups(groups: UpdateGroups): Plugin {
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(async (args) => {
        const updates = await groups.subscribe(args);
        return typeof updates === 'function' ? resultsOf(updates) : updates;
      });
    },
  };
}

function resultsOf(updates: Listen<MadeUpdate>): Values<unknown> {
  return mapValues(valuesOf(updates), (update) => JSON.parse(update.toText()));
}
