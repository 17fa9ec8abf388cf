import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { processRegularResult } from 'graphql-yoga';
import type { Context } from '../../graphql/context.ts';
import type { Soon } from '../../soon.ts';
import type { Admission } from '../clients/admission.ts';
import type { DoorContext } from '../context-of.ts';
import type { Exchange } from '../open-answers.ts';
import type { Yoga } from '../yoga.ts';
import type { JsonType } from './accepted-type.ts';
import { type Answer, toBody } from './answer.ts';
import type { Engine } from './engine.ts';
import type { PersistedQueries } from './persisted-queries.ts';
import type { PlainParams } from './plain-request.ts';

/** Answers plain queries through Yoga's pipeline, without its HTTP layer. */
export type Execution = {
  /** The answer that Yoga's own door would give, to the byte: at once where nothing has to be waited for. */
  answer(params: PlainParams, type: JsonType, exchange: Exchange): Soon<Answer>;
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

/** A result, which may bring a quicker way to write it. */
type Result = ExecutionResult & { readonly stringify?: (result: ExecutionResult) => string };

/** Makes what answers plain queries. */
export function createExecution(options: ExecutionOptions): Execution {
  const { engine, fetchAPI, persisted, admission, maskError } = options;

  /** Errors have headers, a status and a spelling of their own, which Yoga knows. */
  async function answerWith(result: Result, type: JsonType, points: number): Promise<Answer> {
    const response: Response = processRegularResult(result, fetchAPI, type);
    const headers = [...response.headers].flatMap(([given, value]) => {
      const name = given.toLowerCase();
      return WRITTEN_ANYWAY.has(name) ? [] : [name, value];
    });
    return { status: response.status, headers, body: toBody(await response.text()), points, basis: undefined };
  }

  const failed = (error: unknown): Result => ({ errors: [maskError(error)] });

  /** Makes the answer that tells a result. */
  function tell(result: Result, type: JsonType, context: OperationContext): Soon<Answer> {
    const points = admission.paid(context);
    if (!isWhole(result)) return answerWith(result, type, points);
    try {
      const body = toBody(result.stringify === undefined ? JSON.stringify(result) : result.stringify(result));
      return { status: 200, headers: [], body, points, basis: context.loaders?.basis };
    } catch (error) {
      // Too long for one text: nobody waits for the answer but its client.
      return answerWith(failed(error), type, points);
    }
  }

  return {
    answer(params, type, { request: req, response: res }) {
      const context: OperationContext = { req, res, request: toRequest(req) };
      let result: Soon<Result>;
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

/** What is written already has no errors; its data would be read again to be looked at. */
function isWhole(result: Result): boolean {
  if (result.stringify !== undefined) return true;
  return result.data != null && result.errors === undefined && result.extensions === undefined;
}

const WRITTEN_ANYWAY: ReadonlySet<string> = new Set(['content-type', 'content-length']);

/** What Yoga's plugins look at of a request: making a whole one takes longer than answering most queries. */
function toRequest({ method = 'GET' }: IncomingMessage) {
  return { method, headers: NO_HEADERS };
}

/** Only those of a stream say something to the pipeline: which event its reader got last. */
const NO_HEADERS = { get: () => null };
