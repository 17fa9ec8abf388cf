import { type Misbehaviour, openSubscribers, type RawSubscriber, type SubscriptionTransport } from './subscribers.ts';

/** What the process can be sent: how its subscribers misbehave from now on, or what to look up. */
export type Command = Misbehaviour | 'heights' | 'metrics';

const [url = '', count, query = '', ...transports] = process.argv.slice(2);
const subscribers: RawSubscriber[] = [];
for (const transport of transports as SubscriptionTransport[])
  subscribers.push(...(await openSubscribers(url, transport, Number(count) / transports.length, query)));

process.on('message', async (command: Command) => {
  if (command === 'heights') process.send?.(subscribers.map(({ heights }) => heights));
  else if (command === 'metrics') process.send?.(await (await fetch(new URL('/metrics', url))).text());
  else for (const subscriber of subscribers) subscriber.misbehave(command);
});
process.send?.('open');
