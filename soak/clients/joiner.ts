import type { Random } from '../../src/sandbox/chain/random.ts';
import { openEventStream } from '../event-stream.ts';
import { type Departure, openSocket } from '../socket.ts';
import { type Client, pause, pick, type Stage } from '../stage.ts';
import { createAnyStream } from '../streams/any-stream.ts';
import { createAllPricesStream } from '../streams/prices-stream.ts';
import type { Stream } from '../streams/stream.ts';

const DEPARTURES: readonly Departure[] = ['politely', 'breaking off', 'half-closing'];

/** One visitor in so many goes without a sign: the gateway has to find out by itself. */
const VANISHES = 1 / 12;

/** Most who followed prices go on after what they got last; some were away for long, or come from a gateway that is ahead. */
const COMES_BACK = 0.6;
const COMES_FROM_ELSEWHERE = 0.05;

/** Comes over a websocket, follows some things, completes some of them, and goes in one way or another; again and again. */
export const joinAndLeave: Client = async (stage, name, random) => {
  let before: readonly Stream[] = [];
  while (!stage.signal.aborted) {
    const socket = await openSocket(stage, name);
    if (socket === undefined) stage.judge.wrong(`a websocket was not let in: of ${name}`);
    else {
      const others = Array.from({ length: 1 + random.below(6) }, () => createAnyStream(stage, random));
      const streams = [...before.flatMap((stream) => backTo(stage, random, stream)), ...others];
      const completions = streams.map((stream) => socket.follow(stream));
      await pause(random, 0, 4_000 / stage.load, stage.signal);
      for (const complete of completions) if (random.chance(0.4)) complete();
      await pause(random, 0, 500 / stage.load, stage.signal);
      const departure = random.chance(VANISHES) ? 'vanishing' : pick(random, DEPARTURES);
      stage.judge.count(`websockets left ${departure}`);
      socket.leave(departure);
      before = others;
    }
    await pause(random, 0, 600 / stage.load, stage.signal);
  }
};

/** Comes over server-sent events, and breaks them off; again and again. */
export const joinEventStream: Client = async (stage, name, random) => {
  let stream = createAnyStream(stage, random);
  while (!stage.signal.aborted) {
    const { leave } = openEventStream(stage, name, stream);
    await pause(random, 0, 4_000 / stage.load, stage.signal);
    leave();
    stage.judge.count('event streams broken off');
    await pause(random, 0, random.chance(0.2) ? 8_000 : 50, stage.signal);
    [stream = createAnyStream(stage, random)] = backTo(stage, random, stream);
  }
};

/** The stream with which a client comes back to one that it had, if it does. */
function backTo(stage: Stage, random: Random, before: Stream): readonly Stream[] {
  if (random.chance(COMES_FROM_ELSEWHERE)) {
    stage.judge.count('returns from elsewhere');
    return [createAllPricesStream(stage, stage.served.highest() - 80 + random.below(100))];
  }
  const stream = random.chance(COMES_BACK) ? before.resumed() : undefined;
  if (stream === undefined) return [];
  stage.judge.count('returns');
  return [stream];
}
