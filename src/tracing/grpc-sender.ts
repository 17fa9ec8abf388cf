import { Client, type ClientUnaryCall, credentials, Metadata, status } from '@grpc/grpc-js';
import type { Sender, SenderOptions } from './http-sender.ts';

/** The method of OTLP that receives spans. */
const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** By default, the library would read proxies from the environment, and share connections with other clients in the process. */
const OPTIONS = { 'grpc.enable_http_proxy': 0, 'grpc.use_local_subchannel_pool': 1 };

/** Creates the gRPC client of a receiver. It connects directly, and ignores the path of the URL. */
export function createGrpcSender({ endpoint, headers, timeoutMs }: SenderOptions): Sender {
  const { hostname, port, protocol } = endpoint;
  const isOverTls = protocol === 'https:';
  const channel = isOverTls ? credentials.createSsl() : credentials.createInsecure();
  const client = new Client(`${hostname}:${port || (isOverTls ? 443 : 80)}`, channel, OPTIONS);
  const calls = new Set<ClientUnaryCall>();

  return {
    send(body) {
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const deadline = Date.now() + timeoutMs;
      const call = client.makeUnaryRequest(EXPORT, Buffer.from, Buffer.from, body, metadata, { deadline }, (error) => {
        calls.delete(call);
        if (error === null) resolve();
        else reject(new Error(`it responded with gRPC status ${status[error.code]}`));
      });
      calls.add(call);
      return promise;
    },
    close() {
      for (const call of calls) call.cancel();
      client.close();
    },
  };
}
