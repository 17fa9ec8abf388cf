import { type Client, pause } from '../context.ts';
import { createHttpClient } from '../http-client.ts';
import { pastHeightsQuery, WHOLE_HISTORY } from '../queries/past-heights.ts';

/** How long the client sends requests without a pause after a new block. */
const BURST_MS = 250;

/**
 * Requests earlier heights that nobody has read yet, whenever there is a new block. A new head that is published during such a
 * request must not appear in its response.
 */
export const readPastHeights: Client = async (context, name, random) => {
  const { shown, signal, load } = context;
  const client = createHttpClient(context, name);
  let { hash } = shown.chain.tip;
  while (!signal.aborted) {
    await pause(random, 0, 20, signal);
    if (hash === shown.chain.tip.hash) continue;
    hash = shown.chain.tip.hash;
    const until = performance.now() + BURST_MS * load;
    while (performance.now() < until && !signal.aborted)
      await client.execute(pastHeightsQuery(context, random, WHOLE_HISTORY));
  }
  await client.close();
};
