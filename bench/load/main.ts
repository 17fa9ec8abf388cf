import { handleCall, reportReady } from '../process-control.ts';
import { type QueryLoad, runQueries } from './run-queries.ts';
import { openSubscribers, type SubscriberLoad, type Subscribers, type UpdateReceipt } from './subscribers.ts';

// The process of the load generator: queries as fast as they are answered, or many subscribers.

let subscribers: Subscribers | undefined;
let receipt: Promise<UpdateReceipt> | undefined;

handleCall('run queries', (load: QueryLoad) => runQueries(load));
handleCall('subscribe', async (load: SubscriberLoad) => {
  subscribers = await openSubscribers(load);
  return subscribers.sample();
});
handleCall('expect update', () => {
  receipt = subscribers?.receive();
  // The command that awaits it comes later, and it may have failed by then.
  receipt?.catch(() => {});
});
handleCall('receipt', () => receipt);
handleCall('unsubscribe', () => subscribers?.end());
reportReady();
