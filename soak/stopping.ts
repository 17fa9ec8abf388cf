import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../src/sandbox/chain/random.ts';
import type { Sandbox } from '../src/sandbox/sandbox.ts';
import type { GatewayProcess } from './gateway-process.ts';
import type { Answer, Question } from './judge.ts';
import { askOnePool } from './questions/heads.ts';
import { askTickers } from './questions/market.ts';
import { askPast } from './questions/past.ts';
import { introduce, openBareSocket } from './socket.ts';
import type { Stage } from './stage.ts';

/** What the end of a run needs. */
type Stopping = {
  readonly stage: Stage;
  readonly gateway: GatewayProcess;
  readonly sandbox: Sandbox;
  readonly random: Random;
};

const ASKERS = 12;
const SOCKETS = 20;

/** So slow the nodes are then, so that answers are under way when the gateway is told to stop. */
const DELAY_MS = 300;

/** Whoever sends clients here looks so often whether to, and goes on for so long after it should not. */
const LOOKS_EVERY_MS = 250;
const HEARS_WITHIN_MS = 1_500;

/** Stops the gateway while clients ask and follow: none may lose what it was promised. */
export async function stopAmongClients({ stage, gateway, sandbox, random }: Stopping): Promise<void> {
  const { judge } = stage;
  for (const node of sandbox.nodes) node.faults.set({ kind: 'delay', ms: DELAY_MS });
  const closes = await Promise.all(Array.from({ length: SOCKETS }, () => follow(stage)));
  const sentAway = new AbortController();
  const askers = Array.from({ length: ASKERS }, (_, index) => ask(stage, index, random, sentAway.signal));

  await sleep(2 * DELAY_MS);
  const looking = lookUntilSentAway(gateway.url, sentAway);
  const end = await gateway.stop();
  sentAway.abort();
  await Promise.all([...askers, looking]);
  if (end !== 0) judge.wrong(`the gateway did not end well: with ${end}`);

  for (const code of await Promise.all(closes.map(({ closed }) => closed))) {
    judge.count(`websockets closed with ${code} at the stop`);
    if (code !== 1001) judge.wrong(`a websocket was closed with ${code} instead of 1001 at the stop`);
  }
}

/** A websocket with a subscription. */
async function follow(stage: Stage): Promise<{ readonly closed: Promise<number> }> {
  const bare = await openBareSocket(stage, 'someone at the stop');
  await introduce(bare);
  const payload = { query: 'subscription { head { hash } }' };
  bare.socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
  return { closed: bare.closed };
}

/** Asks one question after the other, each on a connection of its own as after `Connection: close`, until sent away. */
async function ask(stage: Stage, index: number, random: Random, sentAway: AbortSignal): Promise<void> {
  const questions = [askOnePool, askPast, askTickers];
  for (let asked = index; !sentAway.aborted; asked++) {
    const question = questions[asked % questions.length]?.(stage, random);
    if (question !== undefined) await askOnce(stage, question);
  }
}

async function askOnce({ url, judge, served }: Stage, question: Question): Promise<void> {
  const floor = served.highest();
  const sentAt = performance.now();
  const { query, variables } = question;
  try {
    const answer = await post(url, JSON.stringify({ query, variables }));
    judge.answer('asker at the stop', question, answer, { sentAt, answeredAt: performance.now(), floor });
  } catch (error) {
    judge.wrong(`a request was lost at the stop: ${question.kind}: ${error}`);
  }
}

function post(url: URL, body: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  return new Promise((resolve, reject) => {
    const asking = request(url, { method: 'POST', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.once('error', reject).once('end', () => resolve(JSON.parse(text)));
    });
    asking.once('error', reject).end(body);
  });
}

async function lookUntilSentAway(url: URL, sentAway: AbortController): Promise<void> {
  const isReady = () =>
    fetch(new URL('/ready', url)).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!sentAway.signal.aborted && (await isReady())) await sleep(LOOKS_EVERY_MS);
  await sleep(HEARS_WITHIN_MS);
  sentAway.abort();
}
