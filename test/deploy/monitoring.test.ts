import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { anchorsOf, PAGES } from '../support/doc-pages.ts';
import { startFleet } from '../support/fleet.ts';
import { startGateway, startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
};
type RuleTest = {
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
};
type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] };

const FOLDER = join(import.meta.dirname, '../../deploy');
const PROMTOOL = '/usr/bin/promtool';
const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8');
const rules: readonly Rule[] = parse(read('alerts.yml')).groups.flatMap((group: { rules: Rule[] }) => group.rules);
const panels: readonly Panel[] = JSON.parse(read('grafana/pdex-gateway.json')).panels;
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
const expressions = [...rules.map(({ alert, expr }) => ({ title: alert, expr })), ...queries];

/** The metrics of a gateway that has answered an operation. */
let exposition: string;
beforeAll(async () => {
  // A gateway of a fleet has metrics that others do not have. Nothing listens there.
  const gateway = await startGateway({ config: { redisUrl: [new URL('redis://127.0.0.1:1')] } });
  await gateway.ask('{ beaconHeight pairs { id } }');
  const url = new URL('/metrics', await gateway.app.listen(0, '127.0.0.1'));
  exposition = await (await fetch(url)).text();
  await gateway.close();
});

/** A sample of the gateway, without those of the process. */
const SAMPLE = /^(pdex_\w+)(?:\{(.*)\})? (\S+)$/gm;

const PUSHED = { configOf: ({ pushUrls }: Sandbox) => ({ fullnodeWsUrl: pushUrls.map((url) => new URL(url)) }) };

async function started(options: TestGatewayOptions): Promise<readonly TestGateway[]> {
  const gateway = await startGatewayForTest({ ...(options.without === 'NODE' ? {} : PUSHED), ...options });
  await gateway.untilReady();
  return [gateway];
}

async function startedFleet(): Promise<readonly TestGateway[]> {
  if (!hasRedis) return started({ isSandbox: false });
  const redis = await startRedis();
  onTestFinished(redis.close);
  const { all, settled } = await startFleet(redis, { prefix: 'alerts', isSandbox: false, ...PUSHED });
  await settled();
  return all;
}

function promtool(...args: readonly string[]): void {
  execFileSync(PROMTOOL, args, { cwd: FOLDER, stdio: 'pipe' });
}

describe('alerts and dashboard', () => {
  test('name only metrics that the gateway has', () => {
    const known = new Set([...exposition.matchAll(/^# HELP (\w+) /gm)].map(([, name = '']) => name));
    const namesIn = (expr: string) => expr.match(/\b(?:pdex|nodejs|process)_\w+|\bup\b/g) ?? [];
    const isKnown = (name: string) => name === 'up' || known.has(name) || known.has(name.replace(/_(bucket|sum)$/, ''));
    expect(expressions.length).toBeGreaterThan(50);
    expect(expressions.filter(({ expr }) => namesIn(expr).length === 0)).toEqual([]);
    expect(
      expressions.flatMap(({ title, expr }) =>
        namesIn(expr)
          .filter((name) => !isKnown(name))
          .map((name) => [title, name]),
      ),
    ).toEqual([]);
  });

  test('select only labels that the metrics have', () => {
    const ofPrometheus = ['job', 'instance'];
    const selectors = expressions.flatMap(({ title, expr }) =>
      [...expr.matchAll(/(\w+)\{(.*?)\}/g)].map(([, name = '', labels = '']) => ({
        title,
        name,
        labels: [...labels.matchAll(/(\w+)[=!]/g)].map(([, label = '']) => label),
      })),
    );
    const wrong = selectors.filter(({ name, labels }) => {
      const sample = new RegExp(`^${name}(?:\\{(.*)\\})? `, 'm').exec(exposition);
      const own = [...(sample?.[1] ?? '').matchAll(/(\w+)="/g)].map(([, label = '']) => label);
      return sample !== null && labels.some((label) => !ofPrometheus.includes(label) && !own.includes(label));
    });
    expect(selectors.length).toBeGreaterThan(40);
    expect(wrong).toEqual([]);
  });

  test('each alert has a summary, what to do, and a section of docs/operating.md', () => {
    const page = PAGES.find(({ path }) => path === 'docs/operating.md');
    const anchors = [...(page ? anchorsOf(page) : [])].map((anchor) => `docs/operating.md#${anchor}`);
    for (const { alert, annotations } of rules) {
      expect(annotations).toEqual({
        summary: expect.any(String),
        description: expect.any(String),
        runbook: `docs/operating.md#${alert.toLowerCase()}`,
      });
      expect(anchors).toContain(annotations['runbook']);
    }
  });

  test('each alert has a test in which it fires, and one in which it does not', () => {
    const tests = parse(read('alerts.test.yml')).tests.flatMap(
      (one: RuleTest) => one.alert_rule_test,
    ) as RuleTest['alert_rule_test'];
    const named = (fires: boolean) =>
      tests
        .filter(({ exp_alerts: alerts }) => alerts.length > 0 === fires)
        .map(({ alertname }) => alertname)
        .toSorted();
    const all = rules.map(({ alert }) => alert).toSorted();
    expect(all.length).toBeGreaterThan(10);
    expect([named(true), named(false)]).toEqual([all, all]);
  });

  test('the job of the alerts is the one that Prometheus reads, and its rules are mounted', () => {
    const { scrape_configs: jobs, rule_files: files } = parse(read('prometheus.yml'));
    const named = rules.flatMap(({ expr }) => [...expr.matchAll(/job="([^"]*)"/g)].map(([, name]) => name));
    expect([...new Set(named)]).toEqual(jobs.map((job: { job_name: string }) => job.job_name));
    const mounts: readonly string[] = parse(read('compose.yaml')).services.prometheus.volumes;
    for (const file of ['prometheus.yml', ...files]) expect(mounts).toContain(`./${file}:/etc/prometheus/${file}:ro`);
  });

  test('Grafana finds the dashboard where compose puts it', () => {
    const mounts: readonly string[] = parse(read('compose.yaml')).services.grafana.volumes;
    const { path } = parse(read('grafana/dashboards.yaml')).providers[0].options;
    expect(mounts).toContain(`./grafana/pdex-gateway.json:${path}/pdex-gateway.json:ro`);
  });

  // Without promtool these tests are skipped. CI installs it, and fails if it is missing.
  test.runIf(process.env['CI'])('CI has promtool', () => expect(existsSync(PROMTOOL)).toBe(true));
  describe.skipIf(!existsSync(PROMTOOL))('for promtool', () => {
    test('the configuration is valid, and the rules pass their tests', () => {
      expect(() => promtool('check', 'config', 'prometheus.yml')).not.toThrow();
      expect(() => promtool('test', 'rules', 'alerts.test.yml')).not.toThrow();
    });

    // What the gateways report, held for half an hour. Figures of the process are those of the tests.
    test.each<readonly [string, () => Promise<readonly TestGateway[]>, readonly string[]]>([
      ['a gateway with both upstreams', () => started({ isSandbox: false }), []],
      ['one without a market-data host', () => started({ isSandbox: false, without: 'MARKET_DATA' }), []],
      ['one without a node', () => started({ isSandbox: false, without: 'NODE' }), []],
      ['the sandbox', () => started({}), ['PdexSandbox']],
      ['two replicas of a fleet', startedFleet, []],
    ])('no alert fires for %s that is well', async (_, start, expected) => {
      const input: { readonly series: string; readonly values: string }[] = [];
      const gateways = await start();
      const isPushed = ({ app }: TestGateway) => app.service.sources.pushes.every(({ status }) => status().isOpen);
      await until(() => gateways.every(isPushed));
      for (const [n, gateway] of gateways.entries()) {
        await gateway.ask('{ beaconHeight pairs { id } changes: pairs { change(hours: 24) { from } } }');
        const url = new URL('/metrics', await gateway.app.listen(0, '127.0.0.1'));
        for (const [, name, labels = '', value] of (await (await fetch(url)).text()).matchAll(SAMPLE))
          input.push({
            series: `${name}{${labels}${labels && ','}job="pdex-gateway",instance="gateway-${n}:4001"}`,
            values: `${value}x30`,
          });
      }
      expect(input.length).toBeGreaterThan(50);
      const folder = mkdtempSync(join(tmpdir(), 'pdex-alerts-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const quiet = rules
        .filter(({ alert }) => !expected.includes(alert))
        .map(({ alert }) => ({ alertname: alert, eval_time: '30m', exp_alerts: [] }));
      const tests = [{ interval: '1m', input_series: input, alert_rule_test: quiet }];
      const file = join(folder, 'healthy.test.yml');
      writeFileSync(file, stringify({ rule_files: [join(FOLDER, 'alerts.yml')], tests }));
      promtool('test', 'rules', file);
    });

    test('the queries of the dashboard are valid', () => {
      const folder = mkdtempSync(join(tmpdir(), 'pdex-queries-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'queries.yml');
      const values = (expr: string) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.+');
      const group = {
        name: 'dashboard',
        rules: queries.map(({ expr }, n) => ({ record: `query_${n}`, expr: values(expr) })),
      };
      writeFileSync(file, stringify({ groups: [group] }));
      expect(() => promtool('check', 'rules', file)).not.toThrow();
    });
  });
});
