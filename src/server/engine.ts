import { type DocumentNode, type ExecutionResult, getOperationAST } from 'graphql';
import { LRUCache } from 'lru-cache';
import { createContext, type Service } from '../graphql/context.ts';
import type { Admission } from './admission.ts';
import { LAST_EVENT_ID_HEADER } from './use-event-stream.ts';
import type { Yoga } from './yoga.ts';

/** An operation as a client sends it. */
export type AskedOperation = {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
};

/** Yoga's pipeline without its HTTP layer. */
export type Engine = {
  /**
   * Executes an operation, or starts a subscription.
   *
   * @param context what the door gives to the pipeline; an object of its own for each operation
   * @throws GraphQLError for a document that cannot be parsed, or is not paid
   */
  run(operation: AskedOperation, context: object): Promise<ExecutionResult | AsyncIterable<ExecutionResult>>;
};

/** What the engine is made of. */
export type EngineOptions = {
  readonly yoga: Yoga;
  readonly service: Service;
  readonly admission: Admission;
};

/** How long the texts of known documents are in all: clients have a few dozen, which they send again and again. */
const MAX_CHARACTERS_IN_ALL = 100_000;

/**
 * Makes the engine. A document that it knows to be valid goes to its execution at once: the hooks around parsing and
 * validation take longer than a small query, even where Yoga remembers both. What is charged for a document is charged.
 */
export function createEngine({ yoga, service, admission }: EngineOptions): Engine {
  const valid = new LRUCache<string, DocumentNode>({
    maxSize: MAX_CHARACTERS_IN_ALL,
    sizeCalculation: (_document, text) => text.length + 1,
  });
  const { schema, execute, subscribe } = yoga.getEnveloped();

  function start(document: DocumentNode, { operationName, variables }: AskedOperation, contextValue: object) {
    const args = { schema, document, contextValue, operationName, variableValues: variables };
    const isSubscription = getOperationAST(document, operationName)?.operation === 'subscription';
    return isSubscription ? subscribe(args) : execute(args);
  }

  return {
    async run(operation, context) {
      const { query } = operation;
      const known = valid.get(query);
      if (known !== undefined) {
        admission.chargeDocument(context, query);
        return start(known, operation, Object.assign(context, createContext(service, lastEventIdOf(context))));
      }
      const enveloped = yoga.getEnveloped(Object.assign(context, { params: operation }) as never);
      const document: DocumentNode = enveloped.parse(query);
      const errors = enveloped.validate(schema, document);
      if (errors.length > 0) return { errors };
      valid.set(query, document);
      return start(document, operation, await enveloped.contextFactory());
    },
  };
}

function lastEventIdOf(context: { readonly request?: Request }): string | null | undefined {
  return context.request?.headers.get(LAST_EVENT_ID_HEADER);
}
