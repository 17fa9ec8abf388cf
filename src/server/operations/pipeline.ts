import { GraphQLError } from 'graphql';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import { orError, QueryTooComplexError } from '../../errors.ts';
import { createContext, type Service } from '../../graphql/context.ts';
import { complexityOf, costOfVariables, measureCost, requireWithinLimits } from '../../graphql/cost.ts';
import { textOf } from '../../graphql/document-source.ts';
import { maskErrors } from '../../graphql/errors.ts';
import { countValues } from '../../graphql/execution/arguments.ts';
import { executePlan, openSourceStream } from '../../graphql/execution/execute.ts';
import type { KnownOperation, Planned, Planner } from '../../graphql/execution/planner.ts';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import { CHARACTERS_PER_POINT } from '../../graphql/limits.ts';
import { inSpan } from '../../tracing/tracing.ts';
import type { TakeTurn } from '../../turns/turns.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { MIN_HEIGHT_HEADER } from '../requests/headers.ts';
import type { Entry, SentOperation } from '../requests/parameters.ts';
import { refusal } from '../requests/refusal.ts';
import { MAX_TOKENS_AT_ONCE } from './document-bounds.ts';
import type { Documents, ReadDocument } from './documents.ts';
import { EncodedResponse, outcomeOf, type StartedSubscription } from './encoded-response.ts';
import { EXPECTED_CODE } from './log-details.ts';
import type { MinimumHeights } from './minimum-heights.ts';
import type { PersistedDocument, PersistedQueries } from './persisted-queries.ts';
import { type Client, isSubscription, type Prepared, type PreparedOperation } from './prepared-operation.ts';
import type { SubscribeToGroup } from './subscription-groups.ts';

/**
 * The steps of every operation, on every transport: `prepare`, `admit`, then `execute` for a query or `subscribe` for a
 * subscription. `respond` takes all of them.
 */
export type Pipeline = ReturnType<typeof createPipeline>;

type PipelineOptions = {
  readonly service: Service;
  readonly persisted: PersistedQueries;
  readonly documents: Documents;
  readonly planner: Planner;
  readonly subscribeToGroup: SubscribeToGroup;
  readonly minimumHeights: Pick<MinimumHeights, 'reach'>;
  readonly metrics: Metrics;
  readonly maskError: (error: unknown) => GraphQLError;
  /** Waits for a turn of the event loop. */
  readonly takeTurn: TakeTurn;
};

/** Operations with more values in their variables are long too. */
const MAX_VALUES_AT_ONCE = 5_000;

/** Creates the pipeline: the steps of an operation, in the order in which they are taken, and `respond`, which takes all of them. */
export function createPipeline(options: PipelineOptions) {
  const { service, persisted, documents, planner, subscribeToGroup, minimumHeights } = options;
  const { metrics, maskError, takeTurn } = options;
  const { limits } = service;

  /** Long operations wait for a turn of the event loop before each long step. */
  function inTurn<T>(isLong: boolean, { address }: Client, step: () => MaybePromise<T>): MaybePromise<T> {
    return isLong ? takeTurn(address).then(step) : step();
  }

  /**
   * Resolves a persisted document or query, charges for the document, waits for the height in `extensions.minHeight`, reads the
   * document, stores the text of a persisted query, selects the operation, and measures its cost.
   */
  function prepare(sent: SentOperation, client: Client): MaybePromise<Prepared> {
    const resolved = orError(GraphQLError, () => persisted.resolve(sent));
    if (resolved instanceof GraphQLError) {
      if (resolved.extensions['code'] !== EXPECTED_CODE) metrics.recordRefusedOperation();
      return { errors: [client.account.chargeUpTo(1) ?? resolved] };
    }
    const { text, document } = resolved;
    const unpaid = client.account.chargeUpTo(pointsOfDocument(text));
    if (unpaid !== undefined) return { errors: [unpaid] };
    const minimum = sent.extensions?.['minHeight'];
    return andThen(minimumHeights.reach(minimum, 'extensions.minHeight', client, sent), (refused) => {
      if (refused !== undefined) return { errors: [refused] };
      return andThen(document ?? documents.read(text, client.address), (found) => {
        if (document === undefined && found.valid !== undefined) persisted.store(sent, text);
        return select(found, sent, client, document);
      });
    });
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
      return { errors: [refusal('BAD_USER_INPUT', 'Could not determine what operation to execute.')] };
    }
    return planAndMeasure(operation, sent, client, document);
  }

  function planAndMeasure(
    operation: KnownOperation,
    { variables: sentVariables }: SentOperation,
    client: Client,
    persistedAs: PersistedDocument | undefined,
  ): MaybePromise<PreparedOperation> {
    const { tokenCount = 0 } = operation.document;
    const isLong =
      tokenCount > MAX_TOKENS_AT_ONCE || countValues(sentVariables, MAX_VALUES_AT_ONCE) > MAX_VALUES_AT_ONCE;
    const { definition } = operation;
    const persistedName = persistedAs && (definition.name?.value ?? persistedAs.id);
    const measure = (planned: Planned): PreparedOperation => {
      const sent = costOfVariables(sentVariables);
      const cost = planned.plan === undefined ? sent : measureCost(planned.plan, planned.args, service);
      // A field that is not included, or that refuses its arguments, has no cost for its variables. They are coerced all the same.
      const complexity = Math.max(complexityOf(cost), complexityOf(sent));
      const points = Math.max(pointsOfDocument(textOf(operation.document) ?? ''), Math.ceil(complexity));
      client.span?.prepared(definition.operation, definition.name?.value, points);
      return { client, operation, persistedName, sentVariables, planned, cost, points, isLong };
    };
    return andThen(
      inTurn(isLong, client, () => planner.plan(operation, sentVariables)),
      (planned) => inTurn(isLong, client, () => measure(planned)),
    );
  }

  /** Compares the cost with the limits and charges it. @returns why the operation is refused */
  function admit({ client, planned, cost, points, sentVariables }: PreparedOperation): GraphQLError | undefined {
    const excess =
      'excess' in planned ? planned.excess : orError(QueryTooComplexError, () => requireWithinLimits(cost, limits));
    if (excess instanceof Error) {
      metrics.recordRefusedOperation();
      client.account.chargeUpTo(Math.ceil(complexityOf(costOfVariables(sentVariables))));
      return refusal(excess.code, excess.message);
    }
    // What exceeds a rate has a metric of its own.
    return client.account.chargeUpTo(points);
  }

  /** Executes a query that was admitted. */
  function execute(prepared: PreparedOperation): MaybePromise<EncodedResponse> {
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
      const isCacheable = extensions === undefined && errors === undefined;
      const facts = {
        ...sizeOf(prepared),
        dependencies: isCacheable ? dependencies : undefined,
        height: head.used()?.beaconHeight,
        operationName,
        persistedName,
      };
      return new EncodedResponse(new WrittenResult(text, errors, extensions), facts);
    });
  }

  /** Starts an admitted subscription. @returns a response with the errors if it cannot start */
  async function subscribe(prepared: PreparedOperation): Promise<StartedSubscription | EncodedResponse> {
    const start = performance.now();
    const opened = await open(prepared);
    const outcome = opened instanceof WrittenResult ? outcomeOf(opened) : 'whole';
    metrics.recordOperation('subscribe', outcome, (performance.now() - start) / 1_000);
    if (prepared.persistedName !== undefined) metrics.persisted.inc({ operation: prepared.persistedName });
    if (opened instanceof WrittenResult) return new EncodedResponse(opened, { ...sizeOf(prepared), values: 0 });
    return { updates: opened, points: prepared.points };
  }

  async function open({ client, operation, planned }: PreparedOperation) {
    if (planned.plan === undefined) return new WrittenResult(undefined, planned.errors?.map(maskError));
    const { address, lastEventId } = client;
    const stream = await openSourceStream(planned, createContext(service, { client: address, lastEventId }));
    if ('errors' in stream) return new WrittenResult(undefined, stream.errors.map(maskError));
    return subscribeToGroup({ address, operation, planned, stream });
  }

  /** The response with the errors of an operation that is not executed. */
  function refuse(client: Client, errors: readonly GraphQLError[], prepared?: PreparedOperation): EncodedResponse {
    const isOverRate = prepared !== undefined && errors.some(({ extensions }) => extensions['code'] === 'RATE_LIMITED');
    const result = new WrittenResult(undefined, errors, isOverRate ? costExtension(prepared) : undefined);
    return new EncodedResponse(result, { points: Math.max(client.account.paid, prepared?.points ?? 0), values: 0 });
  }

  /**
   * Waits for the minimum height of the request, and takes all steps.
   *
   * @param check called before the operation is admitted, and returns why the transport refuses it
   */
  function respond(
    sent: Entry,
    client: Client,
    check: (prepared: PreparedOperation) => GraphQLError | undefined = () => undefined,
  ): MaybePromise<EncodedResponse | StartedSubscription> {
    if (sent instanceof GraphQLError) return refuse(client, [sent]);
    return inSpan(client.span, () =>
      andThen(minimumHeights.reach(client.minHeight, MIN_HEIGHT_HEADER, client, sent), (early) =>
        andThen(early === undefined ? prepare(sent, client) : { errors: [early] }, (prepared) => {
          if (prepared.errors !== undefined) return refuse(client, prepared.errors);
          const refused = check(prepared) ?? admit(prepared);
          if (refused !== undefined) return refuse(client, [refused], prepared);
          return isSubscription(prepared) ? subscribe(prepared) : execute(prepared);
        }),
      ),
    );
  }

  return { prepare, admit, execute, subscribe, refuse, respond };
}

/** Points for a response, and its values. */
function sizeOf({ client, points, cost }: PreparedOperation) {
  return { points: Math.max(client.account.paid, points), values: cost.values };
}

/** Points for reading a document. */
function pointsOfDocument(text: string): number {
  return Math.max(1, Math.ceil(text.length / CHARACTERS_PER_POINT));
}

/** The cost of an operation, for a client that has requested it. */
function costExtension({ client, planned, cost, points }: PreparedOperation): object | undefined {
  if (!client.wantsCost || planned.plan === undefined) return undefined;
  const complexity = Math.round(complexityOf(cost) * 100) / 100;
  return { cost: { points, complexity, values: Math.round(cost.values) } };
}
