import { openWebSocket, textFrame } from './websocket.ts';

/** A websocket that subscribes to one operation. */
export type Subscriber = { end(): void };

/** What happens to a subscriber. */
export type SubscriberListener = {
  /** A message has arrived completely. Its bytes are valid only until this returns. */
  message(text: Buffer): void;
  broken(reason: string): void;
};

/** What a subscriber is made from. */
export type SubscriberOptions = {
  readonly port: number;
  /** The message that subscribes. */
  readonly subscribe: string;
  /** What Node reads into, which all subscribers can share. */
  readonly buffer: Buffer;
  readonly listener: SubscriberListener;
};

/** Opens a websocket and subscribes. */
export function openSubscriber({ port, subscribe, buffer, listener }: SubscriberOptions): Subscriber {
  const socket = openWebSocket(port, buffer, { ...listener, opened: () => socket.send(textFrame(subscribe)) });
  return socket;
}
