import { type DocumentNode, type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from '../../graphql/context.ts';
import { type Soon, whenThere } from '../../soon.ts';
import type { Admission } from '../clients/admission.ts';
import type { DoorContext } from '../context-of.ts';
import type { QueryExecution } from '../query-execution.ts';
import type { Yoga } from '../yoga.ts';

/** A query as a client sends it. */
export type AskedQuery = {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
};

/** Yoga's pipeline without its HTTP layer. */
export type Engine = {
  /**
   * Executes a query.
   *
   * @param door what the door gives to the pipeline; an object of its own for each operation, and its context afterwards
   * @throws GraphQLError for a document that cannot be parsed, or is not paid
   */
  run(asked: AskedQuery, door: DoorContext): Soon<ExecutionResult>;
};

/** What the engine is made of. */
export type EngineOptions = {
  readonly yoga: Yoga;
  readonly contextOf: (door: DoorContext) => Context;
  readonly admission: Admission;
  readonly queries: QueryExecution;
  readonly maskError: (error: unknown) => GraphQLError;
};

/** How long the texts of known documents are in all: clients have a few dozen, which they send again and again. */
const MAX_CHARACTERS_IN_ALL = 100_000;

/**
 * Makes the engine. A document that it knows to be valid goes to its execution at once: the hooks around parsing and
 * validation take longer than a small query, even where Yoga remembers both. What is charged for a document is charged.
 * What has a plan is executed as Yoga's hooks would, without them: they take as long as the plan.
 */
export function createEngine({ yoga, contextOf, admission, queries, maskError }: EngineOptions): Engine {
  const valid = new LRUCache<string, DocumentNode>({
    maxSize: MAX_CHARACTERS_IN_ALL,
    sizeCalculation: (_document, text) => text.length + 1,
  });
  const { schema, execute } = yoga.getEnveloped();

  function mask(result: ExecutionResult): ExecutionResult {
    return result.errors === undefined ? result : { ...result, errors: result.errors.map(maskError) };
  }

  function start(
    document: DocumentNode,
    { operationName, variables }: AskedQuery,
    contextValue: object,
  ): Soon<ExecutionResult> {
    const operation = { schema, document, contextValue, operationName, variableValues: variables };
    const refusal = queries.refusalOf(operation);
    if (refusal !== undefined) return mask({ errors: [refusal] });
    const result = queries.executeByPlan(operation);
    // An operation is charged once, however often it is asked for.
    return result === undefined ? execute(operation) : whenThere(result, mask);
  }

  async function startUnknown(asked: AskedQuery, door: DoorContext): Promise<ExecutionResult> {
    const { query } = asked;
    const enveloped = yoga.getEnveloped(Object.assign(door, { params: asked }) as never);
    const document: DocumentNode = enveloped.parse(query);
    const errors = enveloped.validate(schema, document);
    if (errors.length > 0) return { errors };
    valid.set(query, document);
    return start(document, asked, await enveloped.contextFactory());
  }

  return {
    run(asked, door) {
      const { query, operationName } = asked;
      const known = valid.get(query);
      // Yoga says by itself, as it parses, what is wrong with a name that no operation has.
      if (known === undefined || getOperationAST(known, operationName) == null) return startUnknown(asked, door);
      admission.chargeDocument(door, query);
      return start(known, asked, Object.assign(door, contextOf(door)));
    },
  };
}
