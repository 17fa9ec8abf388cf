import { GraphQLError } from 'graphql';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import { QueryTooComplexError } from '../../errors.ts';
import { createContext, type Service } from '../../graphql/context.ts';
import { complexityOf, costOfVariables, measureCost, requireWithinLimits } from '../../graphql/cost.ts';
import { textOf } from '../../graphql/document-source.ts';
import { maskErrors } from '../../graphql/errors.ts';
import { countValues } from '../../graphql/execution/arguments.ts';
import { executePlan, openSourceStream } from '../../graphql/execution/execute.ts';
import type { Planned, Planner } from '../../graphql/execution/planner.ts';
import { type ResultExtensions, WrittenResult } from '../../graphql/execution/written-result.ts';
import { CHARACTERS_PER_POINT } from '../../graphql/limits.ts';
import type { Subscribe } from '../../live/broadcast/broadcast.ts';
import type { TakeTurn } from '../../live/broadcast/turn-limit.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { SentOperation } from '../requests/parameters.ts';
import { badRequest, refusal } from '../requests/refusal.ts';
import { MAX_TOKENS_AT_ONCE } from './document-bounds.ts';
import type { Documents, ReadDocument } from './documents.ts';
import { type EncodedUpdate, outcomeOf } from './encoded-update.ts';
import { EXPECTED_CODE } from './log-details.ts';
import type { MinimumHeights } from './minimum-heights.ts';
import type { PersistedDocument } from './persisted-documents.ts';
import type { PersistedQueries } from './persisted-queries.ts';
import type { Client, Executed, Prepared, PreparedOperation } from './prepared-operation.ts';
import type { SubscribeToGroup } from './subscription-groups.ts';

/**
 * The steps of every operation, on every transport, in this order: `prepare`, then `run` for a query (which admits and
 * executes it), or `admit` and `subscribe` for a subscription.
 */
export type Pipeline = {
  /**
   * Resolves a persisted document or query, charges for the document, waits for the height in `extensions.minHeight`, reads the
   * document, stores the text of a persisted query, selects the operation, and measures its cost.
   */
  prepare(sent: SentOperation, client: Client): MaybePromise<Prepared>;
  /** Compares the cost with the limits and charges it. @returns why the operation is refused */
  admit(prepared: PreparedOperation): GraphQLError | undefined;
  /** Admits and executes a query, and returns the errors of one that cannot be executed. */
  run(prepared: Prepared): MaybePromise<Executed>;
  /** Executes a query that was admitted. */
  execute(prepared: PreparedOperation): MaybePromise<Executed>;
  /** Starts an admitted subscription. @returns its updates, or a result with the errors if it cannot start */
  subscribe(prepared: PreparedOperation): Promise<Subscribe<EncodedUpdate> | WrittenResult>;
};

/** What the steps need. */
type PipelineOptions = {
  readonly service: Service;
  readonly persisted: PersistedQueries;
  readonly documents: Documents;
  readonly planner: Planner;
  readonly subscribeToGroup: SubscribeToGroup;
  readonly minimumHeights: Pick<MinimumHeights, 'reachSent'>;
  readonly metrics: Metrics;
  readonly maskError: (error: unknown) => GraphQLError;
  /** Waits for a turn of the event loop. */
  readonly takeTurn: TakeTurn;
};

/** Operations with more values in their variables are long too. */
const MAX_VALUES_AT_ONCE = 5_000;

/** Creates the pipeline. */
export function createPipeline(options: PipelineOptions): Pipeline {
  const { service, persisted, documents, planner, subscribeToGroup, minimumHeights } = options;
  const { metrics, maskError, takeTurn } = options;
  const { limits } = service;

  /** Long operations wait for a turn of the event loop before each long step. */
  function inTurn<T>(isLong: boolean, { address }: Client, step: () => MaybePromise<T>): MaybePromise<T> {
    return isLong ? takeTurn(address).then(step) : step();
  }

  function prepare(sent: SentOperation, client: Client): MaybePromise<Prepared> {
    const resolved = resolve(sent);
    if (resolved instanceof GraphQLError) {
      const unpaid = client.account.charge(1);
      return { errors: [unpaid ?? resolved] };
    }
    const document = typeof resolved === 'string' ? undefined : resolved;
    const text = typeof resolved === 'string' ? resolved : resolved.text;
    const unpaid = client.account.charge(pointsOfDocument(text));
    if (unpaid !== undefined) return { errors: [unpaid] };
    const read = () =>
      andThen(document ?? documents.read(text, client.address), (found) => {
        if (document === undefined && found.valid !== undefined) persisted.store(sent, text);
        return select(found, sent, client, document);
      });
    const minimum = sent.extensions?.['minHeight'];
    if (minimum === undefined) return read();
    return andThen(minimumHeights.reachSent(minimum, 'extensions.minHeight', client), (refused) =>
      refused === undefined ? read() : { errors: [refused] },
    );
  }

  function resolve(sent: SentOperation): PersistedDocument | string | GraphQLError {
    try {
      return persisted.resolve(sent);
    } catch (error) {
      const masked = maskError(error);
      if (masked.extensions['code'] !== EXPECTED_CODE) metrics.recordRefusedOperation();
      return masked;
    }
  }

  function select(
    { valid, errors }: ReadDocument,
    sent: SentOperation,
    client: Client,
    document: PersistedDocument | undefined,
  ): MaybePromise<Prepared> {
    if (valid === undefined) {
      client.account.debit(errors.length - 1);
      return { errors };
    }
    const operation = valid.operation(sent.operationName);
    if (operation === undefined) {
      metrics.recordRefusedOperation();
      return { errors: [badRequest(400, 'Could not determine what operation to execute.')] };
    }
    const { tokenCount = 0 } = operation.document;
    const isLong =
      tokenCount > MAX_TOKENS_AT_ONCE || countValues(sent.variables, MAX_VALUES_AT_ONCE) > MAX_VALUES_AT_ONCE;
    const persistedName = document && (operation.definition.name?.value ?? document.id);
    const selected = { client, operation, persistedName, sentVariables: sent.variables, isLong };
    return andThen(
      inTurn(isLong, client, () => planner.plan(operation, sent.variables)),
      (planned) => inTurn(isLong, client, () => measure(selected, planned)),
    );
  }

  function measure(
    selected: Omit<PreparedOperation, 'planned' | 'cost' | 'points'>,
    planned: Planned,
  ): PreparedOperation {
    const { operation, sentVariables } = selected;
    const cost =
      planned.plan === undefined ? costOfVariables(sentVariables) : measureCost(planned.plan, planned.args, service);
    const points = Math.max(pointsOfDocument(textOf(operation.document) ?? ''), Math.ceil(complexityOf(cost)));
    const { definition } = operation;
    selected.client.span?.prepared(definition.operation, definition.name?.value, points);
    return { ...selected, planned, cost, points };
  }

  function admit(prepared: PreparedOperation): GraphQLError | undefined {
    const excess = findExcess(prepared);
    if (excess !== undefined) {
      metrics.recordRefusedOperation();
      prepared.client.account.charge(Math.ceil(complexityOf(costOfVariables(prepared.sentVariables))));
      return excess;
    }
    // What exceeds a rate has a metric of its own.
    return prepared.client.account.charge(prepared.points);
  }

  function findExcess({ planned, cost }: PreparedOperation): GraphQLError | undefined {
    try {
      if ('excess' in planned) throw planned.excess;
      requireWithinLimits(cost, limits);
      return undefined;
    } catch (error) {
      if (error instanceof QueryTooComplexError) return refusal(error.code, error.message);
      throw error;
    }
  }

  function run(prepared: Prepared): MaybePromise<Executed> {
    if (prepared.errors !== undefined) return { result: new WrittenResult(undefined, prepared.errors) };
    const refused = admit(prepared);
    if (refused === undefined) return execute(prepared);
    const extensions = refused.extensions['code'] === 'RATE_LIMITED' ? costExtension(prepared) : undefined;
    return { result: new WrittenResult(undefined, [refused], extensions) };
  }

  function execute(prepared: PreparedOperation): MaybePromise<Executed> {
    const { client, operation, planned, persistedName, isLong } = prepared;
    const { address, lastEventId } = client;
    const operationName = operation.definition.name?.value;
    const extensions = costExtension(prepared);
    const start = performance.now();
    const context = createContext(service, { client: address, lastEventId });
    const written =
      planned.plan === undefined
        ? new WrittenResult(undefined, planned.errors)
        : inTurn(isLong, client, () => executePlan(planned, undefined, context, () => takeTurn(address)));
    return andThen(written, (result) => {
      metrics.recordOperation('query', outcomeOf(result), (performance.now() - start) / 1_000);
      if (persistedName !== undefined) metrics.persisted.inc({ operation: persistedName });
      if (result.errors !== undefined) client.account.debit(result.errors.length - 1);
      const { text, errors } = maskErrors(result, maskError);
      const { head, dependencies } = context.loaders;
      return {
        result: new WrittenResult(text, errors, extensions),
        dependencies: extensions === undefined ? dependencies : undefined,
        height: head.height(),
        operationName,
        persistedName,
      };
    });
  }

  async function subscribe(prepared: PreparedOperation): Promise<Subscribe<EncodedUpdate> | WrittenResult> {
    const start = performance.now();
    const opened = await open(prepared);
    const outcome = opened instanceof WrittenResult ? outcomeOf(opened) : 'whole';
    metrics.recordOperation('subscribe', outcome, (performance.now() - start) / 1_000);
    if (prepared.persistedName !== undefined) metrics.persisted.inc({ operation: prepared.persistedName });
    return opened;
  }

  async function open({ client, operation, planned }: PreparedOperation) {
    if (planned.plan === undefined) return new WrittenResult(undefined, planned.errors?.map(maskError));
    const { address, lastEventId } = client;
    const stream = await openSourceStream(planned, createContext(service, { client: address, lastEventId }));
    if ('errors' in stream) return new WrittenResult(undefined, stream.errors.map(maskError));
    return subscribeToGroup({ operation, planned, stream });
  }

  return { prepare, admit, run, execute, subscribe };
}

/** Points for reading a document. */
function pointsOfDocument(text: string): number {
  return Math.max(1, Math.ceil(text.length / CHARACTERS_PER_POINT));
}

/** The cost of an operation, for a client that has requested it. */
function costExtension({ client, planned, cost, points }: PreparedOperation): ResultExtensions | undefined {
  if (!client.wantsCost || planned.plan === undefined) return undefined;
  const complexity = Math.round(complexityOf(cost) * 100) / 100;
  return { cost: { points, complexity, values: Math.round(cost.values) } };
}
