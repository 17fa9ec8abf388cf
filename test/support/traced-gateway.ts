import type { Config } from '../../src/settings/settings.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';
import { type ServedGateway, serveGatewayForTest } from './served-gateway.ts';

/** The trace context of a client. */
export const TRACE = '0af7651916cd43dd8448eb211c80319c';
export const PARENT = 'b7ad6b7169203331';
export const SAMPLED = `00-${TRACE}-${PARENT}-01`;
export const NOT_SAMPLED = `00-${TRACE}-${PARENT}-00`;

/** Serves a gateway for one test that sends traces to the receiver. */
export async function serveTraced(config: Partial<Config> = {}, receiver?: OtlpReceiver): Promise<ServedGateway> {
  const { url } = receiver ?? (await startOtlpReceiver());
  const gateway = await serveGatewayForTest({ config: { otelExporterOtlpEndpoint: url, ...config } });
  await gateway.untilReady();
  return gateway;
}

/** Sends a query by POST. @returns its answer as text */
export async function post(
  { url }: Pick<ServedGateway, 'url'>,
  body: object,
  headers: Record<string, string> = {},
): Promise<string> {
  const all = { 'content-type': 'application/json', accept: 'application/json', ...headers };
  return (await fetch(url, { method: 'POST', headers: all, body: JSON.stringify(body) })).text();
}

/** The spans that the gateway has sent when it is closed. */
export async function spansAfterClose(
  gateway: ServedGateway,
  receiver: OtlpReceiver,
): Promise<readonly ReceivedSpan[]> {
  await gateway.app.close();
  return receiver.spans();
}
