import type { Plugin } from 'graphql-yoga';
import type { PersistedQueries } from '../operations/persisted-queries.ts';

/** Lets requests name their query by its hash also where they take Yoga's own door. */
export function usePersistedQueries(persisted: PersistedQueries): Plugin {
  return {
    onParams({ params, setParams }) {
      // What is no text is refused further on.
      if (params.query != null && typeof params.query !== 'string') return;
      const query = persisted.resolve(params);
      if (query !== undefined && query !== params.query) setParams({ ...params, query });
    },
  };
}
