import type { Random } from '../../src/sandbox/chain/random.ts';
import type { SoakContext } from '../context.ts';
import { openEventStream } from '../event-stream.ts';
import { createEachSubscription } from '../subscriptions/any.ts';
import type { CheckedSubscription } from '../subscriptions/subscription.ts';
import { openWebSocket } from '../websocket-client.ts';

/** Subscriptions that are opened at the start, over websockets and server-sent events, and stay to the end. */
export type LongSubscriptions = {
  readonly sockets: number;
  /** The number of subscriptions to a source. */
  count(source: CheckedSubscription['source']): number;
  /** Reports subscriptions that are behind although their upstream can be read; each once, until it has caught up. */
  watch(now?: number): void;
  /** Describes the subscriptions that are closed, or whose newest height is not that of the tip. */
  notAtTip(): readonly string[];
  close(): void;
};

type Entry = {
  readonly name: string;
  readonly subscription: CheckedSubscription;
  readonly openedAt: number;
  readonly isOpen: () => boolean;
};

/** How long after its start a subscription may have no update. */
const FIRST_UPDATE_MS = 10_000;

/** Opens subscriptions of each kind on `sockets` websockets and on event streams. */
export async function openLongSubscriptions(
  context: SoakContext,
  random: Random,
  sockets: number,
): Promise<LongSubscriptions> {
  const { judge, served, shown } = context;
  const entries: Entry[] = [];
  const closers: (() => void)[] = [];
  const late = new Set<Entry>();

  for (let number = 1; number <= sockets; number++) {
    const name = `long websocket ${number}`;
    const socket = await openWebSocket(context, name);
    if (socket === undefined) throw new Error('the gateway does not accept websockets');
    closers.push(() => socket.leave('closed'));
    for (const subscription of createEachSubscription(context, random)) {
      socket.subscribe(subscription);
      entries.push({ name, subscription, openedAt: performance.now(), isOpen: socket.isOpen });
    }
  }
  for (const [index, subscription] of createEachSubscription(context, random).entries()) {
    const name = `long event stream ${index + 1}`;
    const { isOpen, leave } = openEventStream(context, name, subscription);
    closers.push(leave);
    entries.push({ name, subscription, openedAt: performance.now(), isOpen });
  }

  /** How a subscription is behind; `undefined` if it is not. */
  function lagOf({ subscription, openedAt }: Entry, now: number): string | undefined {
    if (now - openedAt < FIRST_UPDATE_MS || subscription.hasFailed?.()) return undefined;
    if (subscription.isOf !== undefined) return served.isOutdated(subscription.isOf, now) ? 'outdated' : undefined;
    const height = subscription.height();
    const behind = served.behind(height ?? 0, now);
    if (behind === 0) return undefined;
    return height === undefined ? 'without an update' : `${behind} heights behind`;
  }

  function isAtTip({ height, isOf }: CheckedSubscription): boolean {
    return isOf === undefined ? height() === shown.chain.tip.height : isOf(shown.since(performance.now()));
  }

  return {
    sockets,
    count: (source) => entries.filter(({ subscription }) => subscription.source === source).length,
    watch(now = performance.now()) {
      for (const entry of entries) {
        const lag = lagOf(entry, now);
        if (lag === undefined) late.delete(entry);
        else if (!late.has(entry)) {
          late.add(entry);
          judge.fail(`a subscription is stuck: ${entry.subscription.kind} of ${entry.name} is ${lag}`);
        }
      }
    },
    notAtTip() {
      return entries
        .filter(({ subscription, isOpen }) => !isOpen() || !isAtTip(subscription))
        .map(
          ({ name, subscription, isOpen }) =>
            `${subscription.kind} of ${name}, ${isOpen() ? `at ${subscription.height()}` : 'closed'}`,
        );
    },
    close: () => closers.forEach((close) => void close()),
  };
}
