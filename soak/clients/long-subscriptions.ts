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
  /** Reports subscriptions that are behind although the node can be read; each once, until it has caught up. */
  watch(): void;
  /** Describes the subscriptions that are closed, or whose newest height is not that of the tip. */
  notAtTip(): readonly string[];
  close(): void;
};

type Entry = { readonly name: string; readonly subscription: CheckedSubscription; readonly isOpen: () => boolean };

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
      entries.push({ name, subscription, isOpen: socket.isOpen });
    }
  }
  for (const [index, subscription] of createEachSubscription(context, random).entries()) {
    const name = `long event stream ${index + 1}`;
    const { isOpen, leave } = openEventStream(context, name, subscription);
    closers.push(leave);
    entries.push({ name, subscription, isOpen });
  }

  return {
    sockets,
    count: (source) => entries.filter(({ subscription }) => subscription.source === source).length,
    watch() {
      const now = performance.now();
      for (const entry of entries) {
        const height = entry.subscription.height();
        const behind = height === undefined ? 0 : served.behind(height, now);
        if (behind === 0 || entry.subscription.hasFailed?.()) late.delete(entry);
        else if (!late.has(entry)) {
          late.add(entry);
          judge.fail(
            `a subscription is stuck: ${entry.subscription.kind} of ${entry.name} is ${behind} heights behind`,
          );
        }
      }
    },
    notAtTip() {
      const { height } = shown.chain.tip;
      return entries
        .filter(({ subscription, isOpen }) => !isOpen() || (subscription.height() ?? height) !== height)
        .map(
          ({ name, subscription, isOpen }) =>
            `${subscription.kind} of ${name}, ${isOpen() ? `at ${subscription.height()}` : 'closed'}`,
        );
    },
    close: () => closers.forEach((close) => void close()),
  };
}
