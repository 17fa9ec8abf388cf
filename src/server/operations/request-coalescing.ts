import type { DataVersion } from './data-version.ts';

/** Executions in progress, for requests with the same text (single flight). */
type RequestCoalescing = {
  /** The execution for that text that started with that version of the data; `undefined` if there is none. */
  inFlight(text: string, version: DataVersion): Execution | undefined;
  /** Shares an execution until it ends. */
  share(text: string, version: DataVersion, execution: Execution): void;
};

/** Resolves to the response, or to something else if there is none to share. */
type Execution = Promise<unknown>;

type InFlight = { readonly version: DataVersion; readonly execution: Execution };

/** Creates the coalescing of requests; none is in progress. */
export function createRequestCoalescing(): RequestCoalescing {
  const executions = new Map<string, InFlight>();

  return {
    inFlight(text, version) {
      const found = executions.get(text);
      // An execution that started before the last publication may use data that is no longer current.
      return found?.version === version ? found.execution : undefined;
    },
    share(text, version, execution) {
      const added = { version, execution };
      executions.set(text, added);
      const end = () => executions.get(text) === added && executions.delete(text);
      execution.then(end, end);
    },
  };
}
