import { type Client, pause, pick } from '../context.ts';
import { createHttpClient } from '../http-client.ts';
import { failWithout } from '../response-limit.ts';
import { pickInvalidQuery } from './invalid-queries.ts';

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json' };

/** Requests that are not GraphQL: method, headers, query string, body. None may result in an error of the gateway. */
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

/** Sends operations that exceed limits or are invalid, and requests that are not GraphQL, at a high rate. */
export const sendInvalidRequests: Client = async (context, name, random) => {
  const { judge, signal, load } = context;
  const client = createHttpClient(context, name);
  while (!signal.aborted) {
    if (random.chance(0.7)) await client.execute(pickInvalidQuery(context, random));
    else {
      const request = pick(random, REQUESTS);
      try {
        const { status, text } = await client.send(...request);
        judge.count(`bad requests answered with ${status}`);
        if (status >= 500 || (status === 200 && !text.includes('"errors"')))
          judge.fail('a bad request is not refused', {
            request: request.map((part) => JSON.stringify(part)?.slice(0, 200)),
            status,
            text,
          });
      } catch (error) {
        failWithout(context, 'to a bad request', error, request[3]?.slice(0, 200));
      }
    }
    await pause(random, 0, 400 / load, signal);
  }
  await client.close();
};
