/** The gateways that clients use, as a load balancer in front of them decides. */
export type Routes = {
  /** The GraphQL endpoint for the next request or connection. */
  next(): URL;
  /** Whether a client names the newest height that any client has received. If not, its heights can go back. */
  namesMinimum(client: string): boolean;
  /** Whether a gateway was killed between a time and now, so that its requests and connections are lost. */
  explainsLoss(url: URL, since: number): boolean;
};

/** The request header, and the entry of `connection_init`, with a minimum height. */
export const MINIMUM = 'x-pdex-min-height';

/** The routes to one gateway, which is never killed. Its heights never go back by themselves. */
export function routeToOne(url: URL): Routes {
  return { next: () => url, namesMinimum: () => false, explainsLoss: () => false };
}
