import { openEventStream } from '../event-stream.ts';
import { type Client, pause } from '../stage.ts';
import { createAllPricesStream } from '../streams/prices-stream.ts';
import { POOL_FIELDS } from '../truth/pools.ts';

/** Everything is asked for several times, so that what the system buffers for a reader is soon full. */
const COPIES = ['a', 'b', 'c'].map((alias) => `${alias}: poolPairs { ${POOL_FIELDS} }`).join(' ');

/** Reads an event stream and then no longer, without closing it; again and again. The gateway has to find out by itself. */
export const vanishFromEventStreams: Client = async (stage, name, random) => {
  while (!stage.signal.aborted) {
    const stream = createAllPricesStream(stage);
    const query = stream.query.replace('blockTime', `blockTime ${COPIES}`);
    const { vanish } = openEventStream(stage, name, { ...stream, query });
    await pause(random, 100, 500, stage.signal);
    vanish();
    stage.judge.count('event streams left vanishing');
    await pause(random, 15_000, 30_000 / stage.load, stage.signal);
  }
};
