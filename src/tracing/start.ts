import type { Log } from '../logging/log.ts';
import { createAgent } from '../upstream/agent.ts';
import { authorization } from '../upstream/credentials.ts';
import type { ProxySettings } from '../upstream/proxies.ts';
import { tlsHintOf } from '../upstream/response-error.ts';
import type { ProviderOptions } from './spans.ts';
import type { OtlpProtocol, Tracing } from './tracing.ts';

/** Which traces are recorded, and where they are sent. */
type TracingOptions = ProxySettings &
  Omit<ProviderOptions, 'send'> & {
    /** The receiver; `undefined` if none is set: then traces are off. */
    readonly otelExporterOtlpEndpoint: URL | undefined;
    readonly otelExporterOtlpHeaders: Readonly<Record<string, string>>;
    readonly otelSdkDisabled: boolean;
    readonly log: Log;
    /** Maximum time to send a batch of spans. */
    readonly timeoutMs?: number;
  };

/** Maximum time to send a batch of spans by default. */
const TIMEOUT_MS = 5_000;

/** Batches that are sent at the same time, at most. While the receiver is too slow for them, spans are lost. */
const MAX_SENDING = 4;

/** Minimum time between two lines of the log that say that spans are lost. */
const LOG_INTERVAL_MS = 60_000;

/** Starts to trace, if a receiver is set. Only then OpenTelemetry's SDK is loaded. */
export async function startTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { otelExporterOtlpEndpoint: endpoint, otelExporterOtlpProtocol, httpProxy, httpsProxy, noProxy, log } = options;
  if (endpoint === undefined || options.otelSdkDisabled) return undefined;

  const { createTracing } = await import('./spans.ts');
  const headers = { ...authorization(endpoint), ...options.otelExporterOtlpHeaders };
  const proxies = { httpProxy, httpsProxy, noProxy };
  const { timeoutMs = TIMEOUT_MS } = options;
  const sender = await createSender(otelExporterOtlpProtocol, { endpoint, headers, proxies, timeoutMs });
  const tracing = createTracing({ ...options, send: createSend(sender, endpoint, log) });
  log.info({ receiver: endpoint.host }, 'traces are on');
  return {
    ...tracing,
    async close(timeoutMs) {
      await tracing.close(timeoutMs);
      await sender.close();
    },
  };
}

type SenderOptions = {
  readonly endpoint: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly proxies: ProxySettings;
  readonly timeoutMs: number;
};

type Sender = {
  /** Sends encoded spans. It rejects if the receiver does not take them within the timeout. */
  send(body: Uint8Array): Promise<void>;
  /** Aborts what is being sent, and closes the connections. */
  close(): unknown;
};

async function createSender(protocol: OtlpProtocol, options: SenderOptions): Promise<Sender> {
  if (protocol !== 'grpc')
    return createHttpSender(options, protocol === 'http/json' ? 'application/json' : 'application/x-protobuf');
  const { createGrpcSender } = await import('./grpc-sender.ts');
  return createGrpcSender(options.endpoint, options.headers, options.timeoutMs);
}

/**
 * Creates the HTTP client of a receiver. That of OpenTelemetry would add headers that its variables name, also when the gateway is
 * a library, and try again after the gateway was closed.
 */
function createHttpSender(options: SenderOptions, contentType: string): Sender {
  const { endpoint, headers, proxies, timeoutMs } = options;
  const agent = createAgent({ connections: MAX_SENDING, connectTimeoutMs: timeoutMs, proxies });
  const url = new URL(endpoint);
  url.pathname = `${endpoint.pathname.replace(/\/$/, '')}/v1/traces`;
  return {
    async send(body) {
      const { statusCode, body: received } = await agent.request(url, {
        method: 'POST',
        headers: { 'content-type': contentType, ...headers },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      });
      await received.dump();
      const hint = statusCode === 404 ? ': the gateway appends /v1/traces to the configured URL' : '';
      if (statusCode < 200 || statusCode > 299) throw new Error(`it responded with status ${statusCode}${hint}`);
    },
    close: () => agent.destroy(),
  };
}

/** Sends each batch once: to store those that cannot be sent would fill the memory. */
function createSend(sender: Sender, endpoint: URL, log: Log): ProviderOptions['send'] {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let lost = 0;
  let sending = 0;

  return async (body, spans) => {
    sending += 1;
    try {
      if (sending > MAX_SENDING) throw new Error('it is too slow');
      await sender.send(body);
    } catch (error) {
      lost += spans;
      if (performance.now() - loggedAt < LOG_INTERVAL_MS) return;
      loggedAt = performance.now();
      const { message, code } = error as NodeJS.ErrnoException;
      const facts = { receiver: endpoint.host, spans: lost, error: message || code, ...tlsHintOf(error, endpoint) };
      log.warn(facts, 'spans are lost: they cannot be sent');
      lost = 0;
    } finally {
      sending -= 1;
    }
  };
}
