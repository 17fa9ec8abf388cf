import { openEventStream } from '../event-stream.ts';
import { type Client, pause } from '../stage.ts';
import { createAllPricesStream } from '../streams/prices-stream.ts';

/** Reads an event stream and then no longer, without closing it; again and again. The gateway has to find out by itself. */
export const vanishFromEventStreams: Client = async (stage, name, random) => {
  while (!stage.signal.aborted) {
    const { vanish } = openEventStream(stage, name, createAllPricesStream(stage));
    await pause(random, 0, 3_000, stage.signal);
    vanish();
    stage.judge.count('event streams left vanishing');
    await pause(random, 15_000, 30_000 / stage.load, stage.signal);
  }
};
