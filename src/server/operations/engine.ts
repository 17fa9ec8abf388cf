import type { GraphQLSchema } from 'graphql';
import type { Context } from '../../graphql/context.ts';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import type { DoorContext } from '../context-of.ts';
import type { Admission } from './admission.ts';
import type { Documents, ReadDocument } from './documents.ts';
import type { QueryExecution } from './run.ts';

/** A query as a client sends it. */
export type AskedQuery = {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
};

/** Yoga's pipeline without Yoga: the same steps, called one after the other. */
export type Engine = {
  /**
   * Executes a query.
   *
   * @param door what the door gives to the pipeline; an object of its own for each operation, and its context afterwards
   * @throws GraphQLError for a document that is not paid
   */
  run(asked: AskedQuery, door: DoorContext): MaybePromise<WrittenResult>;
};

/** What the engine is made of. */
export type EngineOptions = {
  readonly schema: GraphQLSchema;
  readonly documents: Documents;
  readonly contextOf: (door: DoorContext) => Context;
  readonly admission: Admission;
  readonly queries: QueryExecution;
};

/**
 * Makes the engine. Its steps are those that Yoga's hooks call on other ways in: reading the document, the limits, the plan.
 * Envelop's way through the hooks takes longer than a small query.
 */
export function createEngine({ schema, documents, contextOf, admission, queries }: EngineOptions): Engine {
  function start(
    { document, errors }: ReadDocument,
    asked: AskedQuery,
    door: DoorContext,
  ): MaybePromise<WrittenResult> {
    if (document === undefined) {
      admission.chargeErrors(door, errors.length);
      return new WrittenResult(undefined, errors);
    }
    const { operationName, variables: variableValues } = asked;
    const contextValue = Object.assign(door, contextOf(door));
    const operation = { schema, document, contextValue, operationName, variableValues };
    return queries.run(operation);
  }

  return {
    run(asked, door) {
      admission.chargeDocument(door, asked.query);
      return andThen(documents.read(asked.query), (read) => start(read, asked, door));
    },
  };
}
