import { type Context, createContext, type Service } from '../graphql/context.ts';
import type { ClientAddresses, ClientIdentity } from './clients/client-address.ts';

/** What the doors put into the context of an operation. */
export type DoorContext = {
  /** Over HTTP its request, on a websocket the one that opened it; a test that asks without a door gives none. */
  readonly req?: ClientIdentity;
  /** The same as Yoga has it. */
  readonly request?: { readonly headers: { get(name: string): string | null } };
};

/** The header with which a browser that lost a stream says which event it got last. */
const LAST_EVENT_ID_HEADER = 'last-event-id';

/** Makes what makes the contexts of operations, with what is known of their senders. */
export function createContexts(service: Service, clients: ClientAddresses): (door: DoorContext) => Context {
  return ({ req, request }) =>
    createContext(service, {
      client: req && clients.of(req),
      lastEventId: request?.headers.get(LAST_EVENT_ID_HEADER),
    });
}
