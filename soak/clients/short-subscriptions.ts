import type { Random } from '../../src/sandbox/chain/random.ts';
import { type Client, pause, pick, type SoakContext } from '../context.ts';
import { openEventStream } from '../event-stream.ts';
import { createAnySubscription } from '../subscriptions/any.ts';
import { createAllPricesSubscription } from '../subscriptions/prices.ts';
import type { CheckedSubscription } from '../subscriptions/subscription.ts';
import { type Departure, openWebSocket } from '../websocket-client.ts';

const DEPARTURES: readonly Departure[] = ['closed', 'aborted', 'half-closed'];

/** The share of clients that stop reading without closing the connection. The gateway has to detect it. */
const VANISHING_SHARE = 1 / 12;

/** The share of subscriptions to prices that resume; and of those that were away for long, or come from a gateway that is ahead. */
const RESUMING_SHARE = 0.6;
const FROM_ELSEWHERE_SHARE = 0.05;

/** The gateway closes a websocket that is not initialised within this time: because this process was too busy for it. */
const INIT_WITHIN_MS = 3_000;

/** Opens websockets with some subscriptions, completes some of them, and disconnects in different ways. */
export const subscribeBriefly: Client = async (context, name, random) => {
  let before: readonly CheckedSubscription[] = [];
  while (!context.signal.aborted) {
    const openedAt = performance.now();
    const socket = await openWebSocket(context, name);
    const isInTime = performance.now() - openedAt < INIT_WITHIN_MS;
    // A fleet of several loses websockets with a gateway, which is counted.
    if (socket === undefined && isInTime && context.replicas === 1)
      context.judge.fail(`a websocket was refused: of ${name}`);
    if (socket === undefined) await pause(random, 0, 500, context.signal);
    else {
      const others = Array.from({ length: 1 + random.below(6) }, () => createAnySubscription(context, random));
      const subscriptions = [...before.flatMap((subscription) => resumeOf(context, random, subscription)), ...others];
      const completions = subscriptions.map((subscription) => socket.subscribe(subscription));
      await pause(random, 0, 4_000 / context.load, context.signal);
      for (const complete of completions) if (random.chance(0.4)) complete();
      await pause(random, 0, 500 / context.load, context.signal);
      const departure = random.chance(VANISHING_SHARE) ? 'vanished' : pick(random, DEPARTURES);
      context.judge.count(`websockets ${departure}`);
      socket.leave(departure);
      before = others;
    }
    await pause(random, 0, 600 / context.load, context.signal);
  }
};

/** Opens event streams and aborts them. */
export const readEventStreamBriefly: Client = async (context, name, random) => {
  let subscription = createAnySubscription(context, random);
  while (!context.signal.aborted) {
    const { leave } = openEventStream(context, name, subscription);
    await pause(random, 0, 4_000 / context.load, context.signal);
    leave();
    context.judge.count('event streams aborted');
    await pause(random, 0, random.chance(0.2) ? 8_000 : 50, context.signal);
    [subscription = createAnySubscription(context, random)] = resumeOf(context, random, subscription);
  }
};

/** The subscription with which a client resumes an earlier one, if it does. */
function resumeOf(context: SoakContext, random: Random, before: CheckedSubscription): readonly CheckedSubscription[] {
  if (random.chance(FROM_ELSEWHERE_SHARE)) {
    context.judge.count('returns from elsewhere');
    return [createAllPricesSubscription(context, context.served.highest() - 80 + random.below(100))];
  }
  const subscription = random.chance(RESUMING_SHARE) ? before.resumed() : undefined;
  if (subscription === undefined) return [];
  context.judge.count('returns');
  return [subscription];
}
