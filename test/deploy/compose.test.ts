import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/settings/read-config.ts';
import { SETTINGS } from '../../src/settings/settings.ts';

type Service = {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly command?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly stop_grace_period?: string;
};

const FOLDER = join(import.meta.dirname, '../../deploy');
const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8');
const { services, volumes } = parse(read('compose.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const all = Object.entries(services);
const ours = all.filter(([name]) => name.startsWith('gateway-'));
const dockerfile = read('Dockerfile');
const variables = Object.values(SETTINGS).map(({ variable }) => variable);

describe('compose.yaml', () => {
  test('is tried with the sandbox as another project, whose Redis and history a real gateway would refuse', () => {
    const [, name] = /^name: (.+)$/m.exec(read('compose.yaml')) ?? [];
    const page = readFileSync(join(FOLDER, '../docs/deploying.md'), 'utf8');
    const [, trial] = /GATEWAY_ENV=sandbox\.env docker compose -p (\S+) /.exec(page) ?? [];
    expect([name, trial]).toEqual(['pdex-gateway', 'pdex-sandbox']);
  });

  test('starts two gateways with all that they share, nginx, Prometheus and Grafana, and the sandbox only with a profile', () => {
    const started = all.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name);
    const shared = ['redis', 'postgresql'];
    expect(started).toEqual(['gateway-1', 'gateway-2', 'nginx', ...shared, 'prometheus', 'grafana']);
    expect(Object.keys(services)).toEqual([...started, 'sandbox']);
  });

  test('gives the gateways settings of one fleet, with the servers, the user and the password of this file', () => {
    const [first, second] = ours.map(([, { environment = {} }]) => environment);
    expect(second).toEqual(first);
    const withDefaults = (text = '') => text.replace(/\$\{\w+:-(\w+)\}/g, '$1');
    const env = Object.fromEntries(
      ['REDIS_URL', 'HISTORY_DATABASE'].map((name) => [name, withDefaults(first?.[name])]),
    ) as Record<string, string>;
    const config = readConfig([], { ...env, FULLNODE_URL: 'http://node', MARKET_DATA_URL: 'http://host' });
    expect(config).toMatchObject({ redisUrl: [new URL('redis://redis:6379')] });
    const { username, password, hostname, pathname } = new URL(env['HISTORY_DATABASE'] ?? '');
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = services['postgresql']?.environment ?? {};
    expect([username, password, hostname, pathname]).toEqual([
      POSTGRES_USER,
      withDefaults(POSTGRES_PASSWORD),
      'postgresql',
      `/${POSTGRES_DB}`,
    ]);
  });

  test('has the service, the user and the database with which docs/backup.md backs the history up', () => {
    const page = readFileSync(join(FOLDER, '../docs/backup.md'), 'utf8');
    const commands = [...page.matchAll(/exec -T (\S+) \\\n +(\w+) -U (\S+) .*?(\w+)(?: [<>] .*)?$/gm)];
    const { POSTGRES_USER, POSTGRES_DB } = services['postgresql']?.environment ?? {};
    expect(commands.map(([, service, program, user, database]) => [service, program, user, database])).toEqual(
      ['pg_dump', 'psql', 'pg_restore'].map((program) => ['postgresql', program, POSTGRES_USER, POSTGRES_DB]),
    );
    const [, stopped] = /compose\.yaml stop (.*)$/m.exec(page) ?? [];
    expect(stopped?.split(' ')).toEqual(ours.map(([name]) => name));
  });

  test('mounts and builds from files that exist, and declares its volumes', () => {
    const sources = all.flatMap(([, service]) => service.volumes?.map((volume) => volume.split(':')[0] ?? '') ?? []);
    const files = sources.filter((source) => source.startsWith('.'));
    const builds = all.flatMap(([, { build }]) => (build ? [join(build.context, build.dockerfile)] : []));
    expect(files.length).toBeGreaterThan(5);
    expect(builds.length).toBeGreaterThan(1);
    expect([...files, ...builds].filter((path) => !existsSync(join(FOLDER, path)))).toEqual([]);
    expect(sources.filter((source) => !source.startsWith('.')).toSorted()).toEqual(Object.keys(volumes).toSorted());
  });

  test('starts the sandbox without packages, from the folder that it mounts', () => {
    const { command = [], volumes: [volume = ''] = [] } = services['sandbox'] ?? {};
    const [source = '', target = ''] = volume.split(':');
    const folder = join(FOLDER, source);
    expect(existsSync(join(folder, relative(target, command[1] ?? '')))).toBe(true);
    const imports = globSync('**/*.ts', { cwd: folder }).flatMap((path) =>
      [...readFileSync(join(folder, path), 'utf8').matchAll(/ from '([^']+)'/g)].map(([, from = '']) => from),
    );
    expect(imports.length).toBeGreaterThan(20);
    expect(imports.filter((from) => !/^(\.|node:)/.test(from))).toEqual([]);
  });

  test('depends on services that exist', () => {
    const named = all.flatMap(([, { depends_on: on = [] }]) => (Array.isArray(on) ? on : Object.keys(on)));
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => !(name in services))).toEqual([]);
  });

  test('sets only variables that are settings of the gateway', () => {
    const inImage = /^ENV (.*)$/m.exec(dockerfile)?.[1]?.match(/\w+(?==)/g) ?? [];
    const inFiles = [...ours.flatMap(([, { environment = {} }]) => Object.keys(environment))];
    const inSandbox = Object.keys(parseEnv(read('sandbox.env')));
    const names = [...inImage, ...inFiles, ...inSandbox];
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !variables.includes(name))).toEqual(['NODE_ENV']);
  });

  test('has the port of the image wherever a gateway is named', () => {
    const [, port = ''] = /\bPORT=(\d+)/.exec(dockerfile) ?? [];
    const [, adminPort = ''] = /\bADMIN_PORT=(\d+)/.exec(dockerfile) ?? [];
    expect(dockerfile).toContain(`\nEXPOSE ${port} ${adminPort}\n`);
    for (const [file, served] of [
      ['nginx.conf', port],
      ['prometheus.yml', adminPort],
    ] as const)
      expect([file, read(file).match(/gateway-\d+:\d+/g)]).toEqual([file, ours.map(([name]) => `${name}:${served}`)]);
  });

  test('has the ports of the simulated upstreams, and of the servers that it publishes', () => {
    const sandbox = readFileSync(join(FOLDER, '../src/sandbox/main.ts'), 'utf8');
    const ports = Object.values(parseEnv(read('sandbox.env'))).map((url) => new URL(url ?? ''));
    expect(new Set(ports.map(({ hostname }) => hostname))).toEqual(new Set(['sandbox']));
    expect(ports).toHaveLength(4);
    expect(ports.filter(({ port }) => !sandbox.includes(`flag('<port>', '${port}',`))).toEqual([]);
    expect(services['nginx']?.ports?.[0]).toMatch(
      new RegExp(`:${/^ +listen (\d+);$/m.exec(read('nginx.conf'))?.[1]}$`),
    );
    expect(parse(read('grafana/datasource.yaml')).datasources[0].url).toBe(
      `http://prometheus:${services['prometheus']?.ports?.[0]?.split(':').at(-1)}`,
    );
  });

  test('only nginx can be reached from other machines', () => {
    const open = all.filter(([, { ports = [] }]) => ports.some((port) => !port.startsWith('127.0.0.1:')));
    expect(open.map(([name]) => name)).toEqual(['nginx']);
  });

  test('gives a gateway the time to stop', () => {
    const seconds = ours.map(([, { stop_grace_period: text }]) => Number(/^(\d+)s$/.exec(text ?? '')?.[1]));
    // A database of the history that does not respond takes three seconds more.
    const needed = (Number(SETTINGS.stopWindowMs.default) + Number(SETTINGS.stopTimeoutMs.default)) / 1_000 + 3;
    expect(seconds.every((time) => time > needed)).toBe(true);
  });
});
