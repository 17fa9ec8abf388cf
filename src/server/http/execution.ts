import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import { processRegularResult } from 'graphql-yoga';
import { withoutStacks } from '../../errors.ts';
import type { Context } from '../../graphql/context.ts';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { DoorContext } from '../context-of.ts';
import type { Admission } from '../operations/admission.ts';
import type { Engine } from '../operations/engine.ts';
import { summarizeErrors } from '../operations/error-summary.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import type { Yoga } from '../yoga/yoga.ts';
import type { JsonType } from './accept.ts';
import { type EncodedResponse, toResponseBody } from './encoded-response.ts';
import type { HttpExchange } from './open-responses.ts';
import type { RequestParameters } from './request-parameters.ts';

/** Answers plain queries through Yoga's pipeline, without its HTTP layer. */
export type Execution = {
  /** The answer that Yoga's own door would give, to the byte: at once where nothing has to be waited for. */
  answer(params: RequestParameters, type: JsonType, exchange: HttpExchange): MaybePromise<EncodedResponse>;
};

/** What executes. */
export type ExecutionOptions = {
  readonly engine: Engine;
  readonly fetchAPI: Yoga['fetchAPI'];
  readonly persisted: PersistedQueries;
  readonly admission: Admission;
  readonly maskError: (error: unknown) => GraphQLError;
};

/** What Yoga gives to the pipeline, and what the pipeline puts to it. */
type OperationContext = Partial<Context> & DoorContext & { readonly res: ServerResponse };

/** Makes what answers plain queries. */
export function createExecution(options: ExecutionOptions): Execution {
  const { engine, fetchAPI, persisted, admission, maskError } = options;

  /** Errors have headers, a status and a spelling of their own, which Yoga knows. */
  async function answerWith(result: WrittenResult, type: JsonType, points: number): Promise<EncodedResponse> {
    const response: Response = withoutStacks(() => processRegularResult(result, fetchAPI, type));
    const headers = [...response.headers].flatMap(([given, value]) => {
      const name = given.toLowerCase();
      return WRITTEN_ANYWAY.has(name) ? [] : [name, value];
    });
    const body = toResponseBody(await response.text());
    return { status: response.status, headers, body, points, dependencies: undefined, errors: summarizeErrors(result) };
  }

  const failed = (error: unknown) => new WrittenResult(undefined, [maskError(error)]);

  /** Makes the answer that tells a result. */
  function tell(result: WrittenResult, type: JsonType, context: OperationContext): MaybePromise<EncodedResponse> {
    const points = admission.paid(context);
    if (result.errors !== undefined) return answerWith(result, type, points);
    try {
      const body = toResponseBody(result.toText());
      // A result with extensions is for the client that wants them, and is not cached.
      const dependencies = result.extensions === undefined ? context.loaders?.dependencies : undefined;
      return { status: 200, headers: [], body, points, dependencies, errors: undefined };
    } catch (error) {
      // Too long for one text: nobody waits for the answer but its client.
      return answerWith(failed(error), type, points);
    }
  }

  return {
    answer(params, type, { request: req, response: res }) {
      const context: OperationContext = { req, res, request: toRequest(req) };
      let result: MaybePromise<WrittenResult>;
      try {
        // A plain request has a text or names one, or it is refused here.
        result = engine.run({ ...params, query: persisted.resolve(params) ?? '' }, context);
      } catch (error) {
        result = failed(error);
      }
      if (result instanceof Promise) return result.catch(failed).then((awaited) => tell(awaited, type, context));
      return tell(result, type, context);
    },
  };
}

const WRITTEN_ANYWAY: ReadonlySet<string> = new Set(['content-type', 'content-length']);

/** What Yoga's plugins look at of a request: making a whole one takes longer than answering most queries. */
function toRequest({ method = 'GET' }: IncomingMessage) {
  return { method, headers: NO_HEADERS };
}

/** Only those of a stream say something to the pipeline: which event its reader got last. */
const NO_HEADERS = { get: () => null };
