import { startGatewayForTest, type TestGateway, type TestGatewayOptions } from './gateway.ts';

/**
 * A gateway with everything read, unless its upstreams are changed before, and how to request its REST API.
 *
 * @param start starts the gateway; in a hook, it is `startGateway`
 */
export async function openRest(
  options: TestGatewayOptions = {},
  start: (options: TestGatewayOptions) => Promise<TestGateway> = startGatewayForTest,
) {
  const gateway = await start(options);
  if (options.before === undefined) await gateway.untilReady();
  const { origin } = new URL(await gateway.app.listen(0, '127.0.0.1'));

  /** Requests a path below that of the partner, or any path of the gateway. */
  function get(path: string, init?: RequestInit): Promise<Response> {
    return fetch(path.startsWith('/') ? origin + path : `${origin}/api/v1/public/market-data/${path}`, init);
  }

  /** The JSON of a response, which must be a success. */
  // biome-ignore lint/suspicious/noExplicitAny: what a document contains is asserted, not typed
  async function read(path: string): Promise<any> {
    const response = await get(path);
    if (response.status !== 200) throw new Error(`${path} has status ${response.status}: ${await response.text()}`);
    return response.json();
  }

  return { ...gateway, origin, get, read };
}

/** The first document of tickers with a figure of 24 hours: on a busy machine, those before it may have none. */
export async function readDayFigures(get: (path: string) => Promise<Response>, name: string) {
  for (;;) {
    const response = await get('tickers');
    const text = await response.text();
    if (text.includes(`"${name}":`)) return { text, height: Number(response.headers.get('x-pdex-height')) };
  }
}
