import { createHttpClient } from '../ask.ts';
import { type Client, pause, pick } from '../stage.ts';
import { pickAbuse } from './abuses.ts';

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json' };

/** Requests that are no GraphQL at all: method, headers, query, body. None may be answered as a fault of the gateway. */
const REQUESTS: readonly (readonly ['GET' | 'POST', Record<string, string>, string, string?])[] = [
  ['POST', JSON_TYPE, '', '}{ not JSON'],
  ['POST', JSON_TYPE, '', ''],
  ['POST', JSON_TYPE, '', '[]'],
  ['POST', JSON_TYPE, '', '{"query":7}'],
  ['POST', JSON_TYPE, '', '{"query":"{ beaconHeight }","variables":[1]}'],
  ['POST', JSON_TYPE, '', `[${Array(50).fill('{"query":"{ beaconHeight }"}').join()}]`],
  ['POST', JSON_TYPE, '', JSON.stringify({ query: `{ beaconHeight } #${'x'.repeat(300_000)}` })],
  ['POST', { 'content-type': 'application/x-www-form-urlencoded' }, '', 'query={beaconHeight}'],
  ['POST', { ...JSON_TYPE, origin: 'https://elsewhere.example' }, '', '{"query":"{ nothing }"}'],
  ['GET', JSON_TYPE, '?query=mutation%7Bx%7D'],
  ['GET', JSON_TYPE, '?query=%7BbeaconHeight%7D&variables=%7B'],
  ['GET', JSON_TYPE, '/../../../etc/passwd'],
];

/** Asks for too much, for what there is not, and sends what is no GraphQL; quickly. */
export const abuse: Client = async (stage, name, random) => {
  const { judge, signal, load } = stage;
  const client = createHttpClient(stage, name);
  while (!signal.aborted) {
    if (random.chance(0.7)) await client.ask(pickAbuse(stage, random));
    else {
      const request = pick(random, REQUESTS);
      try {
        const { status, text } = await client.send(...request);
        judge.count(`bad requests answered with ${status}`);
        if (status >= 500 || (status === 200 && !text.includes('"errors"')))
          judge.wrong('a bad request is not refused', {
            request: request.map((part) => JSON.stringify(part)?.slice(0, 200)),
            status,
            text,
          });
      } catch (error) {
        if (!signal.aborted) judge.wrong(`no answer: to a bad request: ${error}`, request[3]?.slice(0, 200));
      }
    }
    await pause(random, 0, 400 / load, signal);
  }
  await client.close();
};
