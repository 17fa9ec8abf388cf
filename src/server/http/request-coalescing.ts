import type { DataVersion } from './data-version.ts';
import type { EncodedResponse } from './encoded-response.ts';

/** Executions in progress, for requests with the same text (single flight). */
export type RequestCoalescing = {
  /** The execution for that text that started with that version of the data; `undefined` if there is none. */
  inFlight(text: string, version: DataVersion): Execution | undefined;
  /** Shares an execution until it ends. */
  share(text: string, version: DataVersion, execution: Execution): void;
};

/** Resolves to `undefined` if the text turns out to be a subscription. */
type Execution = Promise<EncodedResponse | undefined>;

type InFlight = { readonly version: DataVersion; readonly execution: Execution };

/** Creates the coalescing of requests for one media type: the status of errors depends on it. */
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
