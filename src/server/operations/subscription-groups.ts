import { hash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import type { Instant } from '../../domain/instant.ts';
import { createContext, type Service } from '../../graphql/context.ts';
import { textOf } from '../../graphql/document-source.ts';
import { maskErrors } from '../../graphql/errors.ts';
import { executePlan } from '../../graphql/execution/execute.ts';
import type { KnownOperation, PlannedOperation } from '../../graphql/execution/planner.ts';
import type { Subscribe } from '../../live/broadcast/broadcast.ts';
import type { SourceStream } from '../../loaders/source-stream.ts';
import { inSpan, type Tracing } from '../../tracing/tracing.ts';
import { createTurnLimit, type TakeTurn } from '../../turns/turns.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type EncodedUpdate, encodeUpdate } from './encoded-response.ts';
import { codesOf } from './log-details.ts';
import { createSubscriptionGroup, type SubscriptionGroup } from './subscription-group.ts';

/** A subscription whose source stream is open. */
type OpenSubscription = {
  /** The address of the client, whose share of the upstreams is used. */
  readonly address: string | undefined;
  readonly operation: KnownOperation;
  readonly planned: PlannedOperation;
  readonly stream: SourceStream;
};

/** What a group keeps of its first subscription: without the document, which can be large. */
type UpdateSource = Omit<OpenSubscription, 'operation'> & { readonly operationName: string | undefined };

/**
 * Joins the group of an operation when the returned function is called. Each distinct operation has one group, for its
 * subscriptions on all transports.
 */
export type SubscribeToGroup = (subscription: OpenSubscription) => Subscribe<EncodedUpdate>;

type Group = SubscriptionGroup & {
  /** Notes the client of a member. The updates of several clients have a share of their own. */
  addClient(address: string | undefined): void;
};

type SubscriptionGroupsOptions = {
  readonly service: Service;
  /** Waits for a turn of the event loop. */
  readonly takeTurn: TakeTurn;
  readonly metrics: Metrics;
  readonly maskError: (error: unknown) => GraphQLError;
  readonly tracing?: Tracing | undefined;
};

/** Updates executed per turn of the event loop: the updates of a thousand operations would block it. */
const EXECUTED_PER_TURN = 4;

/** Members that waited for an update and receive it in one turn of the event loop. */
const SENT_PER_TURN = 16;

/** Creates the groups; there are none yet. */
export function createSubscriptionGroups(options: SubscriptionGroupsOptions): SubscribeToGroup {
  const { service, takeTurn, metrics, maskError, tracing } = options;
  const groups = new Map<string, Group>();
  const executing = createTurnLimit(EXECUTED_PER_TURN);
  const sending = createTurnLimit(SENT_PER_TURN);

  async function execute(
    { operationName, planned, stream, address: client }: UpdateSource,
    value: unknown,
    previous: unknown,
  ) {
    await executing.wait();
    const head = stream.headOf(value);
    const span = tracing?.startUpdate(head);
    span?.prepared('subscription', operationName);
    try {
      const context = createContext(service, { head, client });
      const { dependencies } = context.loaders;
      const root = stream.toUpdate(value, previous);
      const written = await inSpan(span, () => executePlan(planned, root, context, () => takeTurn(client)));
      const result = maskErrors(written, maskError);
      const update = encodeUpdate(result, stream.heightOf(value));
      span?.end({ height: head?.beaconHeight, codes: codesOf(result.errors) });
      return { update, areCurrent: (now: Instant) => dependencies.areCurrent(now) };
    } catch (error) {
      const masked = maskError(error);
      span?.end({ codes: codesOf([masked]) });
      throw masked;
    }
  }

  function open(key: string, source: UpdateSource) {
    let { address } = source;
    const group: Group = {
      ...createSubscriptionGroup({
        stream: source.stream,
        execute: (value, previous) => execute({ ...source, address }, value, previous),
        turn: sending.wait,
        onSent({ outcome, errors }) {
          metrics.recordOperation('update', outcome);
          metrics.recordErrors(errors);
        },
        onEmpty: () => groups.get(key) === group && groups.delete(key),
        now: service.now,
      }),
      addClient(other) {
        if (other !== address) address = undefined;
      },
    };
    groups.set(key, group);
    return group;
  }

  return (subscription) => {
    const key = keyOf(subscription);
    const { address, operation, planned, stream } = subscription;
    const operationName = operation.definition.name?.value;
    // The plan and its arguments are enough for updates. The variables can be large.
    const source = { address, operationName, planned: { ...planned, variables: {} }, stream };
    // The source stream of a member can start with an error that earlier members did not receive.
    return (subscriber) => {
      const group = groups.get(key) ?? open(key, source);
      group.addClient(address);
      return group.join(subscriber, stream.subscribe);
    };
  };
}

/** Two operations with the same key receive the same updates. */
function keyOf({ operation: { document, definition }, planned: { variables }, stream }: OpenSubscription): string {
  const key = JSON.stringify([textOf(document), definition.name?.value, variables, stream.resumesAfter], bigintToText);
  return hash('sha256', key, 'base64');
}

/** JSON has no numbers for amounts. Two variables of one type with the same text have the same value. */
function bigintToText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
