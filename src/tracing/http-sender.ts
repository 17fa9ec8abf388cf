import { createAgent } from '../upstream/agent.ts';
import type { ProxySettings } from '../upstream/proxies.ts';

/** How a receiver is reached. */
export type SenderOptions = ProxySettings & {
  readonly endpoint: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxConnections: number;
};

/** The client of a receiver. */
export type Sender = {
  /** Sends encoded spans. It rejects if the receiver does not take them within the timeout. */
  send(body: Uint8Array): Promise<void>;
  /** Aborts what is being sent, and closes the connections. */
  close(): unknown;
};

/**
 * Creates the HTTP client of a receiver. That of OpenTelemetry would add headers that its variables name, also when the gateway is
 * a library, and try again after the gateway was closed.
 */
export function createHttpSender(options: SenderOptions, contentType: string): Sender {
  const { endpoint, headers, timeoutMs, maxConnections, ...proxies } = options;
  const agent = createAgent({ connections: maxConnections, connectTimeoutMs: timeoutMs, proxies });
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
      if (statusCode < 200 || statusCode > 299) throw new Error(`it responded with status ${statusCode}`);
    },
    close: () => agent.destroy(),
  };
}
