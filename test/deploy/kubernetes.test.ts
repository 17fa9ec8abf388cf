import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/settings/read-config.ts';
import { type Config, SETTINGS } from '../../src/settings/settings.ts';
import { startGatewayForTest } from '../support/gateway.ts';

type Labels = Readonly<Record<string, string>>;
type Probe = { readonly httpGet: { readonly path: string; readonly port: string } };
type Container = {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: readonly Readonly<Record<string, { readonly name: string }>>[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
  readonly volumeMounts: readonly { readonly mountPath: string; readonly name: string }[];
};
type Pod = {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsNonRoot: boolean; readonly runAsUser: number };
  readonly topologySpreadConstraints: readonly { readonly labelSelector: { readonly matchLabels: Labels } }[];
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string }[];
};

const FOLDER = join(import.meta.dirname, '../../deploy');
const manifest = readFileSync(join(FOLDER, 'kubernetes.yaml'), 'utf8');
const dockerfile = readFileSync(join(FOLDER, 'Dockerfile'), 'utf8');
const documents = parseAllDocuments(manifest);
const objects = documents.map((document) => document.toJS({}));
const byKind = (kind: string) => objects.find((object) => object.kind === kind);
const { spec: deployment } = byKind('Deployment');
const pod: Pod = deployment.template.spec;
const [container] = pod.containers;
const configMap: Labels = byKind('ConfigMap').data;
const settings: Labels = { ...configMap, ...Object.fromEntries(container.env.map(({ name, value }) => [name, value])) };

/** The variables that the image sets. */
const image = Object.fromEntries(
  [...(/^ENV (.*)$/m.exec(dockerfile)?.[1]?.matchAll(/(\w+)=(\S+)/g) ?? [])].map(([, name = '', value = '']) => [
    name,
    value,
  ]),
);
/** A secret as the first lines of the manifest describe it. */
const secret = {
  FULLNODE_URL: 'http://node',
  MARKET_DATA_URL: 'http://host',
  REDIS_URL: 'redis://127.0.0.1:1',
  HISTORY_DATABASE: 'postgres://gateway:secret@postgresql/pdex',
};

describe('kubernetes.yaml', () => {
  test('has a deployment of two, its settings, a service and a disruption budget, all with the same labels', () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    expect(objects.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Deployment', 'Service', 'PodDisruptionBudget']);
    expect(new Set(objects.map(({ metadata }) => metadata.name))).toEqual(new Set(['pdex-gateway']));
    expect(deployment.replicas).toBe(2);
    const labels: Labels = deployment.template.metadata.labels;
    const selectors: Labels[] = [
      deployment.selector.matchLabels,
      byKind('Service').spec.selector,
      byKind('PodDisruptionBudget').spec.selector.matchLabels,
      ...pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector.matchLabels),
    ];
    expect(selectors).toEqual(Array(4).fill(labels));
  });

  test('sets only variables that are settings, and its first lines name the others', () => {
    expect(container.envFrom).toEqual([
      { configMapRef: { name: 'pdex-gateway' } },
      { secretRef: { name: 'pdex-gateway' } },
    ]);
    const known = Object.values(SETTINGS).map(({ variable }) => variable);
    const named = [...Object.keys(settings), ...Object.keys(secret)];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
    expect(manifest.split('\n\n')[0]).toContain(Object.keys(secret).join(', '));
  });

  test('has the prefix of Redis in the pod: an old one that starts again during an upgrade does not get the new prefix', () => {
    expect(container.env.map(({ name }) => name)).toEqual(['REDIS_PREFIX']);
    expect(Object.keys(configMap)).not.toContain('REDIS_PREFIX');
  });

  test('starts a gateway with its settings, whose probes succeed, and whose clients are served', async () => {
    const config = readConfig([], { ...image, ...settings, ...secret }) as Config;
    const { app } = await startGatewayForTest({
      config: { ...config, host: '127.0.0.1', adminPort: 0, historyDatabase: 'off', stopWindowMs: 0 },
      configOf: ({ nodeUrl, marketDataUrl }) => ({
        fullnodeUrl: [new URL(nodeUrl)],
        marketDataUrl: new URL(marketDataUrl),
      }),
      isSandbox: false,
    });
    const http = new URL(await app.listen(0, '127.0.0.1'));
    const admin = app.adminUrl();
    const urls: Readonly<Record<string, string | undefined>> = { http: http.origin, admin };
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const { path, port } of [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet))
      await expect.poll(async () => (await fetch(`${urls[port]}${path}`)).status, { message: path }).toBe(200);
    const [{ targetPort }] = byKind('Service').spec.ports;
    expect((await fetch(`${urls[targetPort]}/graphql?query={beaconHeight}`)).status).toBe(200);
    expect((await fetch(`${urls[targetPort]}/ready`)).status).toBe(404);
  });

  test('has the ports, the user and the only folder that is written of the image', () => {
    expect(container.ports).toEqual([
      { name: 'http', containerPort: Number(image['PORT']) },
      { name: 'admin', containerPort: Number(image['ADMIN_PORT']) },
    ]);
    // The id of `node` in the images of Node.
    expect(dockerfile).toContain('\nUSER node\n');
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
    const [, folder] = /^VOLUME (.*)$/m.exec(dockerfile) ?? [];
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([folder]);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
  });

  test('gives a gateway the time to stop, and the memory that the alert expects', () => {
    const { stopWindowMs, stopTimeoutMs } = readConfig([], { ...image, ...settings, ...secret }) as Config;
    const preStop = Number(container.lifecycle.preStop.exec.command[1]);
    expect(preStop).toBeGreaterThan(0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(preStop + (stopWindowMs + stopTimeoutMs) / 1_000 + 3);
    expect(container.resources.limits.memory).toBe('1Gi');
    expect(readFileSync(join(FOLDER, 'alerts.yml'), 'utf8')).toContain('At 1 GB the supervisor ends it.');
  });
});
