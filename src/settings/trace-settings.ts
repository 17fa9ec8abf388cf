import { OTLP_PROTOCOLS, TRACE_SAMPLERS } from '../tracing/tracing.ts';
import { readBoolean, readHeaderPairs, readOneOf, readPairs, readShare } from './readers.ts';
import { declare, OPTIONAL_URL } from './setting.ts';

const PAIRS = 'Written as `name=value` pairs, percent-encoded and separated by commas.';

const OPENTELEMETRY = { isIgnoredIfWrong: true } as const;

/** One of these words, in upper or lower case. */
function anyCaseOf<Word extends string>(words: readonly Word[]) {
  return { ...OPENTELEMETRY, kind: words, read: (text: string) => readOneOf(text.toLowerCase(), words) };
}

/** The variables of OpenTelemetry, with its names, meanings and defaults, and read by its rules. */
export const TRACES = declare({
  otelExporterOtlpEndpoint: {
    ...OPENTELEMETRY,
    ...OPTIONAL_URL,
    meaning:
      'URL of an OpenTelemetry receiver. If it is set, the gateway sends traces to `<URL>/v1/traces`, or with grpc to the host of the URL.',
  },
  otelExporterOtlpHeaders: {
    ...OPENTELEMETRY,
    meaning: `HTTP headers of every request to the receiver. ${PAIRS}`,
    isSecret: true,
    read: readHeaderPairs,
  },
  otelExporterOtlpProtocol: {
    ...anyCaseOf(OTLP_PROTOCOLS),
    default: OTLP_PROTOCOLS[0],
    meaning: `How traces are sent: ${OTLP_PROTOCOLS.join(', ')}. Receivers usually have another port for grpc, 4317.`,
  },
  otelServiceName: {
    meaning:
      'Name of the gateway in traces. By default, service.name in `OTEL_RESOURCE_ATTRIBUTES`, or else `pdex-gateway`.',
    read: (text) => text,
  },
  otelResourceAttributes: {
    ...OPENTELEMETRY,
    meaning: `Further attributes of the gateway in traces. ${PAIRS}`,
    read: readPairs,
  },
  otelTracesSampler: {
    ...anyCaseOf(TRACE_SAMPLERS),
    default: 'parentbased_always_on',
    meaning: `Which traces are recorded: ${TRACE_SAMPLERS.join(', ')}. With \`parentbased_\`, a client that sends a trace context decides.`,
  },
  otelTracesSamplerArg: {
    ...OPENTELEMETRY,
    kind: 'number',
    default: '1',
    meaning: 'Share of traces that the samplers with `traceidratio` record, from 0 to 1.',
    read: readShare,
  },
  otelSdkDisabled: {
    ...OPENTELEMETRY,
    kind: 'boolean',
    default: 'false',
    meaning: 'Whether traces are off even if a receiver is set: true or false.',
    read: (text) => readBoolean(text.toLowerCase()),
  },
});
