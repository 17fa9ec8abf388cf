import { createHttpClient } from '../ask.ts';
import { askOnePool, askWholeHead } from '../questions/heads.ts';
import { askTicker, askTickers } from '../questions/market.ts';
import { askNodes } from '../questions/nodes.ts';
import { askPast, askUnavailable } from '../questions/past.ts';
import { askService } from '../questions/service.ts';
import { type Client, pause, pick } from '../stage.ts';

const QUESTIONS = [
  ...[askOnePool, askOnePool, askOnePool, askOnePool, askWholeHead],
  ...[askPast, askTicker, askTicker, askTickers, askNodes, askUnavailable, askService],
];

/** Asks one thing after the other, of all kinds, on a connection that it keeps. */
export const poll: Client = async (stage, name, random) => {
  const client = createHttpClient(stage, name);
  while (!stage.signal.aborted) {
    await client.ask(pick(random, QUESTIONS)(stage, random));
    await pause(random, 0, 40 / stage.load, stage.signal);
  }
  await client.close();
};
