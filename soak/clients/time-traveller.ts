import { createHttpClient } from '../ask.ts';
import { askPast, WHOLE_HISTORY } from '../questions/past.ts';
import { type Client, pause } from '../stage.ts';

/** For so long after a block came, a traveller asks without a break. */
const ASKS_FOR_MS = 250;

/**
 * Asks for heights that nobody has read yet, again and again just when a block has come: a new head is published while
 * such an answer is under way, and must not get into it.
 */
export const travelInTime: Client = async (stage, name, random) => {
  const { shown, signal, load } = stage;
  const client = createHttpClient(stage, name);
  let { hash } = shown.chain.tip;
  while (!signal.aborted) {
    await pause(random, 0, 20, signal);
    if (hash === shown.chain.tip.hash) continue;
    hash = shown.chain.tip.hash;
    const until = performance.now() + ASKS_FOR_MS * load;
    while (performance.now() < until && !signal.aborted) await client.ask(askPast(stage, random, WHOLE_HISTORY));
  }
  await client.close();
};
