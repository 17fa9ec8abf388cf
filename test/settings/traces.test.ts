import { expect, test } from 'vitest';
import { ConfigError } from '../../src/settings/kinds.ts';
import { findIgnoredVariables, readConfig } from '../../src/settings/read-config.ts';
import { readOptions } from '../../src/settings/read-options.ts';
import { redactorOf } from '../../src/settings/secrets.ts';
import type { Config } from '../../src/settings/settings.ts';

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  throw new Error('the settings are right');
}

test('the headers of OpenTelemetry are pairs with escapes, and their values are secrets', () => {
  const config = readConfig([], { OTEL_EXPORTER_OTLP_HEADERS: 'X-Api-Key=a%20secret%20key, x-tenant=one' }) as Config;
  expect(config.otelExporterOtlpHeaders).toEqual({ 'x-api-key': 'a secret key', 'x-tenant': 'one' });
  expect(redactorOf(config)('the key is a secret key')).not.toContain('a secret key');
});

const HIDDEN = '(not shown, it may contain a secret)';
const SAMPLERS = 'always_on, always_off, traceidratio';
const ALL_SAMPLERS = `${SAMPLERS}, ${SAMPLERS.replaceAll(/(^|, )/g, '$1parentbased_')}`;

// OpenTelemetry's "Environment Variable Specification". An enum: "if the user provides a value the implementation does not recognize,
// the implementation MUST generate a warning and gracefully ignore the setting". OTEL_TRACES_SAMPLER_ARG: "Invalid or unrecognized
// input MUST be logged and MUST be otherwise ignored". A number that cannot be parsed or is out of range is treated as not set.
// An error in OTEL_RESOURCE_ATTRIBUTES discards the whole value ("Resource SDK").
test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317/a-secret-key', `${HIDDEN}: expected a URL with http or https`],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=one,a-secret-key', `${HIDDEN}: pair 2: expected name=value`],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'thrift', 'is "thrift": expected one of http/protobuf, http/json, grpc'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'host.name=a,b', 'is "host.name=a,b": pair 2: expected name=value'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', `is "jaeger_remote": expected one of ${ALL_SAMPLERS}`],
  ['OTEL_TRACES_SAMPLER_ARG', '10', 'is "10": expected a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', ' ', 'is " ": expected a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', '-0.1', 'is "-0.1": expected a number from 0 to 1'],
  ['OTEL_TRACES_SAMPLER_ARG', 'endpoint=http://x', 'is "endpoint=http://x": expected a number from 0 to 1'],
  ['OTEL_SDK_DISABLED', '1', 'is "1": expected true or false'],
  ['OTEL_SDK_DISABLED', 'yes', 'is "yes": expected true or false'],
])('%s=%s is a warning, and ignored', (variable, text, problem) => {
  expect(findIgnoredVariables({ [variable]: text })).toEqual([`${variable} ${problem}; the variable is ignored`]);
  expect(readConfig([], { [variable]: text })).toEqual(readConfig([], {}));
});

// "Any value that represents a Boolean MUST be set to true only by the case-insensitive string "true"". Empty means unset.
test.each([
  ['OTEL_SDK_DISABLED', 'TRUE', { otelSdkDisabled: true }],
  ['OTEL_SDK_DISABLED', 'True', { otelSdkDisabled: true }],
  ['OTEL_SDK_DISABLED', 'False', { otelSdkDisabled: false }],
  ['OTEL_SDK_DISABLED', '', { otelSdkDisabled: false }],
  ['OTEL_TRACES_SAMPLER', 'Always_Off', { otelTracesSampler: 'always_off' }],
  ['OTEL_TRACES_SAMPLER', '', { otelTracesSampler: 'parentbased_always_on' }],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'HTTP/JSON', { otelExporterOtlpProtocol: 'http/json' }],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', { otelExporterOtlpProtocol: 'grpc' }],
  ['OTEL_TRACES_SAMPLER_ARG', '1e-3', { otelTracesSamplerArg: 0.001 }],
  ['OTEL_TRACES_SAMPLER_ARG', '1.0', { otelTracesSamplerArg: 1 }],
])('%s=%s is read', (variable, text, expected) => {
  expect(findIgnoredVariables({ [variable]: text })).toEqual([]);
  expect(readConfig([], { [variable]: text })).toMatchObject(expected);
});

test('a wrong flag or option of traces is an error, and a right one overrides a wrong variable', () => {
  const env = { OTEL_TRACES_SAMPLER: 'jaeger_remote' };
  const expected = `is "xray": expected one of ${ALL_SAMPLERS}`;
  expect(problemsOf(() => readConfig(['--otel-traces-sampler=xray'], env))).toEqual([
    `--otel-traces-sampler ${expected}`,
  ]);
  expect(problemsOf(() => readOptions({ otelTracesSampler: 'xray' }))).toEqual([`otelTracesSampler ${expected}`]);
  expect(readConfig(['--otel-traces-sampler=always_off'], env)).toMatchObject({ otelTracesSampler: 'always_off' });
});

test.each([
  ['a header that HTTP does not allow', 'b@d=1', 'pair 1: HTTP has no such header'],
  ['a header that the gateway sets', 'content-type=text/plain', 'pair 1: `content-type` cannot be set'],
])('%s is refused', (_, text, problem) => {
  const problems = problemsOf(() => readOptions({ otelExporterOtlpHeaders: text }));
  expect(problems).toEqual([`otelExporterOtlpHeaders (not shown, it may contain a secret): ${problem}`]);
});
