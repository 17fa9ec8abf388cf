import { openEventStream } from '../event-stream.ts';
import { type Departure, openSocket } from '../socket.ts';
import { type Client, pause, pick } from '../stage.ts';
import { createAnyStream } from '../streams/any-stream.ts';

const DEPARTURES: readonly Departure[] = ['politely', 'breaking off', 'half-closing'];

/** One visitor in so many goes without a sign: the gateway has to find out by itself. */
const VANISHES = 1 / 12;

/** Comes over a websocket, follows some things, completes some of them, and goes in one way or another; again and again. */
export const joinAndLeave: Client = async (stage, name, random) => {
  while (!stage.signal.aborted) {
    const socket = await openSocket(stage, name);
    if (socket === undefined) stage.judge.wrong(`a websocket was not let in: of ${name}`);
    else {
      const completions = Array.from({ length: 1 + random.below(6) }, () =>
        socket.follow(createAnyStream(stage, random)),
      );
      await pause(random, 0, 4_000 / stage.load, stage.signal);
      for (const complete of completions) if (random.chance(0.4)) complete();
      await pause(random, 0, 500 / stage.load, stage.signal);
      const departure = random.chance(VANISHES) ? 'vanishing' : pick(random, DEPARTURES);
      stage.judge.count(`websockets left ${departure}`);
      socket.leave(departure);
    }
    await pause(random, 0, 600 / stage.load, stage.signal);
  }
};

/** Comes over server-sent events, and breaks them off; again and again. */
export const joinEventStream: Client = async (stage, name, random) => {
  while (!stage.signal.aborted) {
    const { leave } = openEventStream(stage, name, createAnyStream(stage, random));
    await pause(random, 0, 4_000 / stage.load, stage.signal);
    leave();
    stage.judge.count('event streams broken off');
  }
};
