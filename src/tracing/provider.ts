import { ExportResultCode } from '@opentelemetry/core';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { OtlpProtocol, TraceSampler } from './tracing.ts';

/** Which spans are recorded, and how they are sent. */
export type ProviderOptions = {
  readonly version: string;
  /** Overrides the name among the attributes, if it is not empty. */
  readonly traceServiceName: string;
  /** Attributes of the process. */
  readonly traceResource: Readonly<Record<string, string>>;
  readonly traceSampler: TraceSampler;
  /** The share of traces that the samplers with `traceidratio` record. */
  readonly traceSamplerArg: number;
  readonly otlpProtocol: OtlpProtocol;
  /** Sends encoded spans, and logs if they are lost. It never rejects. */
  readonly send: (body: Uint8Array, spans: number) => Promise<void>;
};

/** Creates a provider of OpenTelemetry's SDK. It is not registered, and reads no variables of the environment. */
export function createProvider(options: ProviderOptions): TracerProvider {
  const { version, traceServiceName, traceResource } = options;
  const name = traceServiceName || traceResource['service.name'] || 'pdex-gateway';
  const attributes = { 'service.version': version, ...traceResource, 'service.name': name };
  return new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(attributes)),
    sampler: createSampler(options),
    spanProcessors: [new BatchSpanProcessor({ exporter: createExporter(options) })],
  });
}

/** Children of a recorded span are recorded, and so are updates that are linked to a recorded head. */
function createSampler({ traceSampler: name, traceSamplerArg }: ProviderOptions): Sampler {
  const always = new AlwaysOnSampler();
  let root: Sampler = new TraceIdRatioBasedSampler(traceSamplerArg);
  if (name.endsWith('always_on')) root = always;
  if (name.endsWith('always_off')) root = new AlwaysOffSampler();
  const ofClients = name.startsWith('parentbased_') ? {} : { remoteParentSampled: root, remoteParentNotSampled: root };
  const parentBased = new ParentBasedSampler({ root, ...ofClients });
  return {
    shouldSample: (...span) => (span[5].length > 0 ? always.shouldSample() : parentBased.shouldSample(...span)),
    toString: () => name,
  };
}

/** Takes each batch at once: none waits in the SDK for a slow receiver, and the SDK reports no errors to the process. */
function createExporter({ otlpProtocol, send }: ProviderOptions): SpanExporter {
  const serializer = otlpProtocol === 'http/json' ? JsonTraceSerializer : ProtobufTraceSerializer;
  const sending = new Set<Promise<void>>();
  return {
    export(spans, done) {
      const body = serializer.serializeRequest(spans) ?? new Uint8Array();
      const sent = send(body, spans.length).finally(() => sending.delete(sent));
      sending.add(sent);
      done({ code: ExportResultCode.SUCCESS });
    },
    async shutdown() {
      await Promise.all(sending);
    },
  };
}
