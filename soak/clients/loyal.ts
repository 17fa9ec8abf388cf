import type { Random } from '../../src/sandbox/chain/random.ts';
import { openEventStream } from '../event-stream.ts';
import { openSocket } from '../socket.ts';
import type { Stage } from '../stage.ts';
import { createEveryStream } from '../streams/any-stream.ts';
import type { Stream } from '../streams/stream.ts';

/** Subscriptions that are opened at the start, over websockets and server-sent events, and stay to the end. */
export type LoyalSubscribers = {
  readonly sockets: number;
  /** How many listen to each source. */
  listeners(source: Stream['source']): number;
  /** Reports those that are behind though the node can be read; each once, until it has caught up. */
  watch(): void;
  /** The names of those that are gone, or whose newest height is not the tip's. */
  notAtTip(): readonly string[];
  leave(): void;
};

type Follower = { readonly name: string; readonly stream: Stream; readonly isOpen: () => boolean };

/** Opens them. */
export async function openLoyalSubscribers(stage: Stage, random: Random, sockets: number): Promise<LoyalSubscribers> {
  const { judge, served, shown } = stage;
  const followers: Follower[] = [];
  const departures: (() => void)[] = [];
  const late = new Set<Follower>();

  for (let number = 1; number <= sockets; number++) {
    const name = `loyal websocket ${number}`;
    const socket = await openSocket(stage, name);
    if (socket === undefined) throw new Error('the gateway does not take websockets');
    departures.push(() => socket.leave('politely'));
    for (const stream of createEveryStream(stage, random)) {
      socket.follow(stream);
      followers.push({ name, stream, isOpen: socket.isOpen });
    }
  }
  for (const [index, stream] of createEveryStream(stage, random).entries()) {
    const name = `loyal event stream ${index + 1}`;
    const { isOpen, leave } = openEventStream(stage, name, stream);
    departures.push(leave);
    followers.push({ name, stream, isOpen });
  }

  return {
    sockets,
    listeners: (source) => followers.filter(({ stream }) => stream.source === source).length,
    watch() {
      const now = performance.now();
      for (const follower of followers) {
        const height = follower.stream.height();
        const behind = height === undefined ? 0 : served.behind(height, now);
        if (behind === 0) late.delete(follower);
        else if (!late.has(follower)) {
          late.add(follower);
          judge.wrong(
            `a subscription is stuck: ${follower.stream.kind} of ${follower.name} is ${behind} heights behind`,
          );
        }
      }
    },
    notAtTip() {
      const { height } = shown.chain.tip;
      return followers
        .filter(({ stream, isOpen }) => !isOpen() || (stream.height() ?? height) !== height)
        .map(({ name, stream, isOpen }) => `${stream.kind} of ${name}, ${isOpen() ? `at ${stream.height()}` : 'gone'}`);
    },
    leave: () => departures.forEach((depart) => void depart()),
  };
}
