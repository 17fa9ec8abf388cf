import { askOnePool, askWholeHead } from '../questions/heads.ts';
import { askTicker, askTickers } from '../questions/market.ts';
import { askNodes } from '../questions/nodes.ts';
import { askPast } from '../questions/past.ts';
import { askService } from '../questions/service.ts';
import { openSocket } from '../socket.ts';
import { type Client, pause, pick } from '../stage.ts';

const QUESTIONS = [askOnePool, askOnePool, askWholeHead, askPast, askTicker, askTickers, askNodes, askService];

/** Asks over a websocket, several things at once, and goes; again and again. */
export const askOverSocket: Client = async (stage, name, random) => {
  while (!stage.signal.aborted) {
    const socket = await openSocket(stage, name);
    if (socket === undefined) return;
    for (let times = 1 + random.below(20); times > 0 && !stage.signal.aborted; times--) {
      const questions = Array.from({ length: 1 + random.below(4) }, () => pick(random, QUESTIONS)(stage, random));
      await Promise.all(questions.map((question) => socket.ask(question)));
      await pause(random, 0, 200 / stage.load, stage.signal);
    }
    socket.leave(pick(random, ['politely', 'breaking off']));
    await socket.closed;
  }
};
