import { expectSame } from '../ask.ts';
import { beginFinding, type Finding, type OpenFinding } from '../finding.ts';
import { startLoad } from '../load.ts';
import { GET_HEADERS, type Operation, pageBehind, toConditionalGet, toPath } from '../operations.ts';
import type { Row, Stage } from '../row.ts';
import { BARE_HTTP, GATEWAY, startHttpServers, startWorld } from '../servers.ts';

/** A page of 100 pools by GET, asked again by someone who has it. */
export const conditionalGet: Row = { name: 'conditional-get', run };

async function run({ quick, tell }: Stage): Promise<readonly Finding[]> {
  const sizes = quick ? [120] : [100, 1_000, 10_000];
  const finding = beginFinding({
    title: 'A GET with If-None-Match: 100 pools, nothing new',
    about:
      'The page of 100 pools by GET, with the ETag that the server gave before; each answer must be a 304. A server that gives no ETag, or answers in full all the same, does not offer it.',
    unit: 'answers per second',
    better: 'more',
    sizeUnit: 'pools',
    sizes,
    reference: BARE_HTTP,
    reaches: [{ subject: GATEWAY, against: { subject: BARE_HTTP, by: 'times' }, bound: 'at least', value: 0.85 }],
  });
  const extent = quick ? { worlds: 1, rounds: 2, seconds: 0.2 } : { worlds: 3, rounds: 3, seconds: 1.5 };
  for (const pools of sizes) {
    for (let world = 0; world < extent.worlds; world++) {
      await compareInWorld({ finding, pools, ...extent, isFirst: world === 0 });
      tell(`${finding.title}, ${pools} pools: world ${world + 1} of ${extent.worlds} done`);
    }
  }
  return [finding];
}

type InWorld = {
  readonly finding: OpenFinding;
  readonly pools: number;
  readonly rounds: number;
  readonly seconds: number;
  /** The first world has all servers, the others those that are held against each other. */
  readonly isFirst: boolean;
};

async function compareInWorld({ finding, pools, rounds, seconds, isFirst }: InWorld): Promise<void> {
  await using world = await startWorld({ pools });
  const servers = await startHttpServers(world, () => isFirst);
  await using load = await startLoad();
  const operation = pageBehind(world.snapshot, -1);
  const wanted = await (await get(world.gateway.url, operation)).text();
  await servers.get(BARE_HTTP)?.server.ask('send', wanted);

  const offered = new Map<string, Buffer>();
  for (const [name, { server }] of servers) {
    const etag = await etagOf(name, server.url, operation, wanted);
    if (etag === undefined) finding.say(name, pools, 'not offered');
    else offered.set(name, toConditionalGet(operation, etag));
  }
  for (let round = -1; round < rounds; round++) {
    for (const [name, request] of offered) {
      const subject = servers.get(name);
      if (!subject) continue;
      const { perSecond } = await load.queries(subject.server, { requests: [request], seconds, expectedStatus: 304 });
      // The first time is for warming up.
      if (round >= 0) finding.add(name, pools, perSecond);
    }
  }
}

/** The ETag of the answer; `undefined` where there is none, or where asking with it changes nothing. */
async function etagOf(name: string, url: string, operation: Operation, wanted: string): Promise<string | undefined> {
  const whole = await get(url, operation);
  expectSame(name, await whole.text(), wanted);
  const etag = whole.headers.get('etag');
  if (etag === null) return undefined;
  const again = await get(url, operation, { 'if-none-match': etag });
  await again.text();
  return again.status === 304 ? etag : undefined;
}

function get(url: string, operation: Operation, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(new URL(toPath(operation), url), {
    headers: { ...GET_HEADERS, ...headers },
    signal: AbortSignal.timeout(60_000),
  });
}
