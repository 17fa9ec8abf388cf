import { createSecureContext } from 'node:tls';
import { Client, type ClientUnaryCall, credentials, Metadata, status } from '@grpc/grpc-js';

/** The method of OTLP that receives spans. */
const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/**
 * By default, the library reads proxies from the environment, shares connections in the process, and waits up to two minutes until
 * it connects again.
 */
const OPTIONS = {
  'grpc.enable_http_proxy': 0,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.max_reconnect_backoff_ms': 5_000,
};

/** Creates the gRPC client of a receiver. It connects directly, and ignores the path of the URL. */
export function createGrpcSender(
  { hostname, port, protocol }: URL,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
) {
  const isOverTls = protocol === 'https:';
  const channel = isOverTls ? credentials.createFromSecureContext(createSecureContext()) : credentials.createInsecure();
  const client = new Client(`${hostname}:${port || (isOverTls ? 443 : 80)}`, channel, OPTIONS);
  const calls = new Set<ClientUnaryCall>();

  return {
    send(body: Uint8Array): Promise<void> {
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const deadline = Date.now() + timeoutMs;
      const call = client.makeUnaryRequest(EXPORT, Buffer.from, Buffer.from, body, metadata, { deadline }, (error) => {
        calls.delete(call);
        if (error === null) resolve();
        else reject(new Error(`gRPC status ${status[error.code]}: ${error.details}`));
      });
      calls.add(call);
      return promise;
    },
    close(): void {
      for (const call of calls) call.cancel();
      client.close();
    },
  };
}
