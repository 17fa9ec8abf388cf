import { expect, test } from 'vitest';
import { ConfigError } from '../../src/settings/config-error.ts';
import { readConfig } from '../../src/settings/read-config.ts';
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

test('the variables of OpenTelemetry are read as it writes them', () => {
  const config = readConfig([], {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'X-Api-Key=a%20secret%20key, x-tenant=one',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'prices',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,host.name=a=b',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '.1',
  }) as Config;
  expect(config).toMatchObject({
    otlpEndpoint: new URL('http://collector:4318'),
    otlpHeaders: { 'x-api-key': 'a secret key', 'x-tenant': 'one' },
    otlpProtocol: 'http/json',
    traceServiceName: 'prices',
    traceResource: { 'deployment.environment.name': 'test', 'host.name': 'a=b' },
    traceSampler: 'traceidratio',
    traceSamplerArg: 0.1,
    tracingDisabled: false,
  });
  expect(redactorOf(config)('the key is a secret key')).not.toContain('a secret key');
});

test('a wrong variable of OpenTelemetry is named, without the text of a secret', () => {
  const problems = problemsOf(() =>
    readConfig([], {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317/a-secret-key',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=one,a-secret-key',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_SAMPLER_ARG: '10',
      OTEL_SDK_DISABLED: 'yes',
    }),
  );
  const hidden = '(not shown, it may contain a secret)';
  const samplers = 'always_on, always_off, traceidratio';
  expect(problems).toEqual([
    `OTEL_EXPORTER_OTLP_ENDPOINT ${hidden}: expected a URL with http or https`,
    `OTEL_EXPORTER_OTLP_HEADERS ${hidden}: pair 2: expected name=value`,
    'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc": expected one of http/protobuf, http/json',
    `OTEL_TRACES_SAMPLER is "jaeger_remote": expected one of ${samplers}, ${samplers.replaceAll(/(^|, )/g, '$1parentbased_')}`,
    'OTEL_TRACES_SAMPLER_ARG is "10": expected a number from 0 to 1',
    'OTEL_SDK_DISABLED is "yes": expected true or false',
  ]);
});

test.each([
  ['a header that HTTP does not allow', 'b@d=1', 'pair 1: HTTP has no such header'],
  ['a header that the gateway sets', 'content-type=text/plain', 'pair 1: `content-type` cannot be set'],
])('%s is refused', (_, text, problem) => {
  const problems = problemsOf(() => readOptions({ otelExporterOtlpHeaders: text }));
  expect(problems).toEqual([`otelExporterOtlpHeaders (not shown, it may contain a secret): ${problem}`]);
});
