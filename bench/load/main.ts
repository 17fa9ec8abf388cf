import { answerTo, tellReady } from '../tell.ts';
import { type QueryLoad, runQueries } from './run-queries.ts';
import { openSubscribers, type Receipt, type Subscribers, type SubscribersWanted } from './subscribers.ts';

// What asks, in a process of its own: queries as fast as they are answered, or many subscribers.

let subscribers: Subscribers | undefined;
let receipt: Promise<Receipt> | undefined;

answerTo('query load', (load: QueryLoad) => runQueries(load));
answerTo('subscribe', async (wanted: SubscribersWanted) => {
  subscribers = await openSubscribers(wanted);
  return subscribers.sample();
});
answerTo('expect update', () => {
  receipt = subscribers?.receive();
  // It is asked for later, and may have failed by then.
  receipt?.catch(() => {});
});
answerTo('receipt', () => receipt);
answerTo('unsubscribe', () => subscribers?.end());
tellReady();
