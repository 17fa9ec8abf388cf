import type { Log } from '../log.ts';
import type { OtlpProtocol, TraceSampler, Tracing } from '../tracing.ts';
import { createAgent } from '../upstream/agent.ts';
import { authorization } from '../upstream/credentials.ts';
import type { ProxySettings } from '../upstream/proxies.ts';
import type { SendSpans } from './batches.ts';

/** How traces are sent. */
type TracingOptions = ProxySettings & {
  readonly version: string;
  /** The receiver; `undefined` if traces are off. */
  readonly otlpEndpoint: URL | undefined;
  readonly otlpHeaders: Readonly<Record<string, string>>;
  readonly otlpProtocol: OtlpProtocol;
  readonly traceServiceName: string;
  readonly traceResource: Readonly<Record<string, string>>;
  readonly traceSampler: TraceSampler;
  readonly traceSamplerArg: number;
  readonly tracingDisabled: boolean;
  readonly log: Log;
};

/** Starts to trace, if a receiver is set. Only then the code that records spans is loaded. */
export async function startTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { otlpEndpoint, version, log } = options;
  if (otlpEndpoint === undefined || options.tracingDisabled) return undefined;

  const { createTracing } = await import('./spans.ts');
  const sender = createSender(otlpEndpoint, options);
  const tracing = createTracing({
    version,
    serviceName: options.traceServiceName,
    resource: options.traceResource,
    protocol: options.otlpProtocol,
    sampler: options.traceSampler,
    ratio: options.traceSamplerArg,
    send: sender.send,
  });
  log.info({ receiver: otlpEndpoint.host }, 'traces are on');
  return {
    ...tracing,
    async close(timeoutMs) {
      await tracing.close(timeoutMs);
      await sender.close();
    },
  };
}

/** Maximum time to send a batch of spans. */
const TIMEOUT_MS = 5_000;

/** Minimum time between two lines of the log that say that spans are lost. */
const LOG_INTERVAL_MS = 60_000;

/** Creates the HTTP client of the receiver. */
function createSender(endpoint: URL, { otlpHeaders, log, ...proxies }: TracingOptions) {
  const agent = createAgent({ connections: MAX_SENDING, connectTimeoutMs: TIMEOUT_MS, proxies });
  const url = new URL(endpoint);
  url.pathname = `${endpoint.pathname.replace(/\/$/, '')}/v1/traces`;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let lost = 0;
  let sending = 0;

  async function post(body: Uint8Array, contentType: string): Promise<void> {
    const response = await agent.request(url, {
      method: 'POST',
      headers: { ...authorization(endpoint), 'content-type': contentType, ...otlpHeaders },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body.dump();
    const { statusCode } = response;
    if (statusCode < 200 || statusCode > 299) throw new Error(`it responded with status ${statusCode}`);
  }

  function failed(error: unknown, spans: number): void {
    lost += spans;
    if (performance.now() - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = performance.now();
    const { message, code } = error as NodeJS.ErrnoException;
    log.warn({ receiver: endpoint.host, spans: lost, error: message || code }, 'spans are lost: they cannot be sent');
    lost = 0;
  }

  const send: SendSpans = async (body, contentType, spans) => {
    sending += 1;
    try {
      if (sending > MAX_SENDING) throw new Error('it is too slow');
      await post(body, contentType);
      return true;
    } catch (error) {
      failed(error, spans);
      return false;
    } finally {
      sending -= 1;
    }
  };

  return { send, close: () => agent.destroy() };
}

/** Batches that are sent at the same time, at most. While the receiver is too slow for them, spans are lost. */
const MAX_SENDING = 4;
