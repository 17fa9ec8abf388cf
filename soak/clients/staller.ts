import { openSocket } from '../socket.ts';
import { type Client, pause } from '../stage.ts';
import { createAllPricesStream } from '../streams/prices-stream.ts';

/** How many of the largest subscriptions a staller opens: together they fill what its kernel buffers for it. */
const SUBSCRIPTIONS = 40;

/** Follows much, stops reading for a while, goes on: heights may be missing then, but whatever comes is right. */
export const stall: Client = async (stage, name, random) => {
  while (!stage.signal.aborted) {
    const socket = await openSocket(stage, name);
    if (socket === undefined) return;
    for (let count = 0; count < SUBSCRIPTIONS; count++) socket.follow(createAllPricesStream(stage));
    for (let times = 1 + random.below(3); times > 0 && !stage.signal.aborted; times--) {
      await pause(random, 500, 3_000, stage.signal);
      socket.pause();
      stage.judge.count('stalls');
      await pause(random, 2_000, 9_000, stage.signal);
      socket.resume();
    }
    await pause(random, 500, 1_000, stage.signal);
    socket.leave('politely');
    await socket.closed;
  }
};
