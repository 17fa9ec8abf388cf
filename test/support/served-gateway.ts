import { onTestFinished } from 'vitest';
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts';
import { freePort } from './ports.ts';

/** A test gateway with a port of its own, for clients that want a real one. */
export type ServedGateway = TestGateway & {
  /** The endpoint, over HTTP and over websockets. */
  readonly url: string;
  readonly webSocketUrl: string;
  /**
   * Stops this gateway, and starts another one where it was, with a sandbox of its own that has so many blocks more. The options
   * say what differs.
   */
  replace(blocks: number, changes?: TestGatewayOptions): Promise<ServedGateway>;
};

/** Serves a gateway for one test, at that port, or at a free one. */
export async function serveGatewayForTest(options: TestGatewayOptions = {}, port?: number): Promise<ServedGateway> {
  const gateway = await serveGateway(options, port);
  onTestFinished(gateway.close);
  return gateway;
}

/** Serves a gateway. The test that replaces it ends the next one; whoever has called this ends this one. */
export async function serveGateway(
  options: TestGatewayOptions = {},
  port?: number,
): Promise<ServedGateway & { close(): Promise<void> }> {
  const gateway = await startGateway(options);
  const url = await gateway.app.listen(port ?? (await freePort()), '127.0.0.1');

  return {
    ...gateway,
    url,
    webSocketUrl: url.replace('http', 'ws'),
    async replace(blocks, changes) {
      await gateway.app.close();
      const before: TestGatewayOptions['before'] = (sandbox) => sandbox.advance(blocks);
      return serveGatewayForTest({ ...options, before, ...changes }, Number(new URL(url).port));
    },
  };
}
