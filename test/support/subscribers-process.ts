import { type Misbehaviour, openSubscribers, type SubscriptionTransport } from './subscribers.ts';

/** What the process can be sent: how its subscribers misbehave from now on, or what to look up. */
export type Command = Misbehaviour | 'heights' | 'metrics';

const [url = '', transport, count, query = ''] = process.argv.slice(2);
const subscribers = await openSubscribers(url, transport as SubscriptionTransport, Number(count), query);

process.on('message', async (command: Command) => {
  if (command === 'heights') process.send?.(subscribers.map(({ heights }) => heights));
  else if (command === 'metrics') process.send?.(await (await fetch(new URL('/metrics', url))).text());
  else for (const subscriber of subscribers) subscriber.misbehave(command);
});
process.send?.('open');
