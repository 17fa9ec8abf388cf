import { createHttpClient } from '../ask.ts';
import { askChart } from '../questions/chart.ts';
import { type Client, pause } from '../stage.ts';

/** So far apart the points of a chart may lie that all of its parts are within what the nodes have kept. */
const MAX_STEP = 10;

/** Draws charts: reads one pool at as many earlier heights as one operation may, several operations at once. */
export const readCharts: Client = async (stage, name, random) => {
  const clients = [1, 2, 3].map(() => createHttpClient(stage, name));
  while (!stage.signal.aborted) {
    const step = 1 + random.below(MAX_STEP);
    await Promise.all(clients.map((client, page) => client.ask(askChart(stage, random, { page, step }))));
    await pause(random, 500, 4_000 / stage.load, stage.signal);
  }
  await Promise.all(clients.map((client) => client.close()));
};
