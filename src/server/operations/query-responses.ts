import type { GraphQLError } from 'graphql';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import { isOfClient } from '../../errors.ts';
import type { OperationSpan } from '../../tracing/tracing.ts';
import type { Account } from '../clients/rate-limits.ts';
import type { Metrics, ResponseSource } from '../metrics/metrics.ts';
import { EncodedResponse } from './encoded-response.ts';
import { codesOf } from './log-details.ts';
import type { DataVersion, ResponseCache } from './response-cache.ts';

/** A request that may be a query, on any transport. */
export type QueryRequest = {
  /** The text of the request, with a character for each byte; `undefined` if its response is for this client only. */
  readonly key: string | undefined;
  readonly account: Account;
  /** The span of the operation, if it is traced. It ends with the response. */
  readonly span?: OperationSpan | undefined;
};

/**
 * What a transport does with its requests.
 *
 * `Other` is the outcome of a request whose response was sent already, that is refused, or that is a subscription.
 */
type QueryTransport<Request extends QueryRequest, Other> = {
  /** Takes the operation of a request through the pipeline. */
  execute(request: Request): MaybePromise<EncodedResponse | Other>;
  /** Sends a response. */
  send(request: Request, response: EncodedResponse, from: ResponseSource): Other;
  /** Refuses a request whose client does not have the points for a response that exists. */
  refuse(request: Request, error: GraphQLError): Other;
};

/** Creates the function that responds to requests on a transport. All transports share the responses. */
export type RespondOver = ReturnType<typeof createQueryResponses>;

type QueryResponsesOptions = {
  readonly cache: ResponseCache;
  /** The version of the data that is served now. */
  readonly dataVersion: () => DataVersion;
  readonly metrics: Pick<Metrics, 'responses' | 'persisted'>;
};

/** An execution in progress. It resolves to the response, or to something else if there is none to share. */
type InFlight = { readonly version: DataVersion; readonly response: Promise<unknown> };

/** Longer requests are neither cached nor coalesced: comparing them would take a good part of the time to execute them. */
const MAX_KEY_LENGTH = 16_384;

/** The key of a request with that text, if it is not too long. */
export function keyOf(text: string): string | undefined {
  return text.length <= MAX_KEY_LENGTH ? text : undefined;
}

function hasErrorOfClient({ errors }: EncodedResponse): boolean {
  return errors?.some(({ message, extensions: { code } }) => isOfClient({ code, message })) ?? false;
}

/**
 * Creates the responses. A request gets a response of the response cache, shares the execution of an equal request, or is
 * executed: on whatever transport the equal request came.
 */
export function createQueryResponses({ cache, dataVersion, metrics }: QueryResponsesOptions) {
  /** Executions in progress, for requests with the same text (single flight). */
  const inFlight = new Map<string, InFlight>();

  /** Shares an execution until it ends. */
  function share(key: string, execution: InFlight): void {
    inFlight.set(key, execution);
    const end = () => inFlight.get(key) === execution && inFlight.delete(key);
    execution.response.then(end, end);
  }

  return <Request extends QueryRequest, Other>({ execute, send, refuse }: QueryTransport<Request, Other>) => {
    function respond(request: Request): MaybePromise<Other> {
      const version = dataVersion();
      const cached = request.key === undefined ? undefined : cache.get(request.key, version);
      return cached === undefined ? coalesce(request, version) : sendAgain(request, cached, 'cached');
    }

    /** Shares the execution of an equal request, if there is one. */
    function coalesce(request: Request, version: DataVersion): MaybePromise<Other> {
      // See `requested` in the response cache for why a text is not looked up without need.
      const isShareable = request.key !== undefined && inFlight.size > 0;
      const execution = isShareable ? inFlight.get(request.key) : undefined;
      // An execution that started before the last publication may use data that is no longer current.
      if (execution?.version !== version) return executeNow(request, version);
      return execution.response.then((shared) => {
        // It is a subscription, has an error of its client alone, or was refused: its client may have no points left, or may have left.
        const isForAll = shared instanceof EncodedResponse && shared.isExecuted && !hasErrorOfClient(shared);
        return isForAll ? sendAgain(request, shared, 'coalesced') : executeNow(request);
      });
    }

    function executeNow(request: Request, version = dataVersion()): MaybePromise<Other> {
      const { key } = request;
      const executing = execute(request);
      if (executing instanceof Promise && key !== undefined) share(key, { version, response: executing });
      return andThen(executing, (response) => {
        if (!(response instanceof EncodedResponse)) return response;
        if (key !== undefined) cache.store(key, response, version);
        return sendFrom(request, response, 'executed');
      });
    }

    /** Sends the response to an equal request, for the same number of points. */
    function sendAgain(request: Request, response: EncodedResponse, from: ResponseSource) {
      const { points, operationName, persistedName } = response.facts;
      const unpaid = request.account.chargeUpTo(points);
      if (unpaid !== undefined) return refuse(request, unpaid);
      request.span?.prepared('query', operationName, points);
      if (persistedName !== undefined) metrics.persisted.inc({ operation: persistedName });
      return sendFrom(request, response, from);
    }

    function sendFrom(request: Request, response: EncodedResponse, from: ResponseSource) {
      metrics.responses.inc({ from });
      const sent = send(request, response, from);
      request.span?.end({ from, height: response.facts.height, codes: response.errors && codesOf(response.errors) });
      return sent;
    }

    return respond;
  };
}
