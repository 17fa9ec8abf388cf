import { type Exchange, makeOperation, type Operation, type OperationResult } from '@urql/core';
import { filter, makeSubject, map, merge, pipe, tap } from 'wonka';
import type { Head, HeadTracker } from './head-tracker.ts';
import type { ServerClock } from './server-clock.ts';

/** The height that the newest answer to each query on the screen describes, by the key of the operation. */
export type AnswerHeights = ReadonlyMap<number, number>;

type HeightOptions = {
  readonly tracker: HeadTracker;
  readonly clock: ServerClock;
  /** The gateway follows another chain than before, or one that began again. */
  readonly onOtherChain: () => void;
};

/** What this exchange reads of results: whatever of it a document has selected. */
type Observed = {
  readonly beaconHeight?: number | null;
  readonly head?: Partial<Head>;
  readonly chainInfo?: { readonly chainName?: string } | null;
  readonly service?: { readonly time?: string; readonly head?: Partial<Head> | null };
};

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;

/** A stale status from below is shown after this many repeats: they have not reached another replica, which would be newer. */
const REPEATS_BEFORE_STALE = 5;

/**
 * Keeps heights from going back. An answer from below what the page shows, as from a slower replica or one that was overtaken
 * on its way, is requested again, and an update from below is dropped. If all repeats say that the chain data is stale, the last one
 * is shown, so that the page can say so. A document with the variable `afterHeight` receives every height that it has missed: it must
 * not select pools, which would be shown as they were.
 */
export function createHeightExchange({ tracker, clock, onOtherChain }: HeightOptions) {
  const heights = new Map<number, number>();
  const waits = new Map<number, { count: number; timer: ReturnType<typeof setTimeout> }>();
  const again = makeSubject<Operation>();

  function forget({ kind, key }: Operation): void {
    if (kind !== 'teardown') return;
    stopWaiting(key);
    heights.delete(key);
  }

  function stopWaiting(key: number): void {
    clearTimeout(waits.get(key)?.timer);
    waits.delete(key);
  }

  /**
   * Adds the newest height that the page shows to a query: behind a load balancer, a gateway that is behind waits for it. A query
   * that selects `service` finds out whether the chain is another one. It has no height, because that chain may never reach it.
   */
  function addHeight(operation: Operation): Operation {
    const height = tracker.height();
    if (operation.kind !== 'query' || height === 0 || selects(operation, 'service')) return operation;
    const { context } = operation;
    const { fetchOptions } = context;
    const options = typeof fetchOptions === 'function' ? fetchOptions() : fetchOptions;
    const headers = { ...(options?.headers as Record<string, string>), 'x-pdex-min-height': String(height) };
    return makeOperation(operation.kind, operation, { ...context, fetchOptions: { ...options, headers } });
  }

  function requestAgain(operation: Operation): void {
    const current = waits.get(operation.key);
    // A refresh and a repeat can both be behind. Only one of them is repeated.
    clearTimeout(current?.timer);
    const count = (current?.count ?? 0) + 1;
    const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** count);
    waits.set(operation.key, { count, timer: setTimeout(() => again.next(operation), waitMs) });
  }

  function acceptAnswer(operation: Operation, data: Observed): boolean {
    if (data.service?.time !== undefined) clock.observe(Date.parse(data.service.time));
    const isOther =
      (data.chainInfo?.chainName !== undefined && tracker.observeChainName(data.chainInfo.chainName)) ||
      (isHead(data.service?.head) && tracker.observe(data.service.head) === 'other-chain');
    if (isOther) {
      onOtherChain();
      return false;
    }
    const height = data.beaconHeight;
    if (height == null) return true;
    if (height >= tracker.height()) {
      stopWaiting(operation.key);
    } else if (data.service?.head?.stale !== true || (waits.get(operation.key)?.count ?? 0) < REPEATS_BEFORE_STALE) {
      requestAgain(operation);
      return false;
    }
    heights.set(operation.key, height);
    tracker.observeHeight(height);
    return true;
  }

  function acceptUpdate(operation: Operation, data: Observed): boolean {
    if (isHead(data.head)) {
      const isFirst = tracker.newest.get() === undefined;
      const sighting = tracker.observe(data.head);
      // The gateway sends each head at once, except the first one of a subscription.
      if (sighting === 'newest' && !isFirst) clock.observe(Date.parse(data.head.observedAt));
      if (sighting === 'other-chain') onOtherChain();
      return sighting === 'newest';
    }
    const height = heightOf(data);
    if (height === undefined) return true;
    if (receivesEveryHeight(operation)) return true;
    tracker.observeHeight(height);
    return height >= tracker.height();
  }

  function accept({ operation, data }: OperationResult): boolean {
    if (data == null) return true;
    return operation.kind === 'subscription' ? acceptUpdate(operation, data) : acceptAnswer(operation, data);
  }

  const exchange: Exchange =
    ({ forward }) =>
    (operations) =>
      pipe(merge([pipe(operations, tap(forget)), again.source]), map(addHeight), forward, filter(accept));

  return { exchange, heights: heights as AnswerHeights };
}

/** The height of an update: that of its only field, such as `prices` or `quote`. */
function heightOf(data: object): number | undefined {
  const [value] = Object.entries(data).flatMap(([name, field]) => (name === '__typename' ? [] : [field]));
  const height: unknown = value?.beaconHeight;
  return typeof height === 'number' ? height : undefined;
}

/** Whether an operation has this field at its root. */
function selects({ query }: Operation, name: string): boolean {
  return query.definitions.some(
    (definition) =>
      definition.kind === 'OperationDefinition' &&
      definition.selectionSet.selections.some((field) => field.kind === 'Field' && field.name.value === name),
  );
}

function receivesEveryHeight({ query }: Operation): boolean {
  return query.definitions.some(
    (definition) =>
      definition.kind === 'OperationDefinition' &&
      definition.variableDefinitions?.some(({ variable }) => variable.name.value === 'afterHeight'),
  );
}

/** Whether a document has selected all that the tracker compares. */
function isHead(head: Partial<Head> | null | undefined): head is Head {
  return head?.beaconHeight !== undefined && head.hash !== undefined && head.observedAt !== undefined;
}
