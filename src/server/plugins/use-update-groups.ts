import type { Plugin } from 'graphql-yoga';
import { mapValues } from '../../live/iterate.ts';
import { isStream } from '../stream.ts';
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
        return isStream(updates) ? mapValues(updates, ({ text }) => JSON.parse(text)) : updates;
      });
    },
  };
}
