import { type Client, pause } from '../context.ts';
import { createHttpClient } from '../http-client.ts';
import { chartQuery } from '../queries/chart.ts';

/** Maximum distance of two points of a chart, so that the nodes still have all of its heights. */
const MAX_STEP = 10;

/** Reads charts: one pool at as many earlier heights as an operation may read, with several operations at once. */
export const readCharts: Client = async (context, name, random) => {
  const clients = [1, 2, 3].map(() => createHttpClient(context, name));
  while (!context.signal.aborted) {
    const step = 1 + random.below(MAX_STEP);
    await Promise.all(clients.map((client, page) => client.execute(chartQuery(context, random, { page, step }))));
    await pause(random, 500, 4_000 / context.load, context.signal);
  }
  await Promise.all(clients.map((client) => client.close()));
};
