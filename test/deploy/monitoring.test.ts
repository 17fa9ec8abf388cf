import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
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
type Variable = { readonly name: string; readonly allValue?: string };
type Dashboard = { readonly panels: readonly Panel[]; readonly templating: { readonly list: readonly Variable[] } };

const FOLDER = join(import.meta.dirname, '../../deploy');
const PROMTOOL = '/usr/bin/promtool';
const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8');
const rules: readonly Rule[] = parse(read('alerts.yml')).groups.flatMap((group: { rules: Rule[] }) => group.rules);
const { panels, templating }: Dashboard = JSON.parse(read('grafana/pdex-gateway.json'));
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
const expressions = [...rules.map(({ alert, expr }) => ({ title: alert, expr })), ...queries];
const namesIn = (expr: string) => expr.match(/\b(?:pdex|nodejs|process)_\w+|\bup\b/g) ?? [];
const everyInstance = templating.list.find(({ name }) => name === 'instance')?.allValue ?? '';
/** A query of the dashboard as Grafana sends it, for all gateways. */
const filledIn = (expr: string) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', everyInstance);

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

const PUSHED = { configOf: ({ pushUrls }: SandboxHosts) => ({ fullnodeWsUrl: pushUrls.map((url) => new URL(url)) }) };

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

  test('the dashboard has all metrics of the alerts', () => {
    const shown = new Set(queries.flatMap(({ expr }) => namesIn(expr)));
    const hidden = rules.flatMap(({ alert, expr }) =>
      namesIn(expr)
        .filter((name) => !shown.has(name))
        .map((name) => [alert, name]),
    );
    expect(hidden).toEqual([]);
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
    const named = (fires: boolean) => {
      const ofKind = tests.filter(({ exp_alerts: alerts }) => alerts.length > 0 === fires);
      return [...new Set(ofKind.map(({ alertname }) => alertname))].toSorted();
    };
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
        const target = `job="pdex-gateway",instance="gateway-${n}:4001"`;
        input.push({ series: `up{${target}}`, values: '1x30' });
        await gateway.ask('{ beaconHeight pairs { id } changes: pairs { change(hours: 24) { from } } }');
        const url = new URL('/metrics', await gateway.app.listen(0, '127.0.0.1'));
        for (const [, name, labels = '', value] of (await (await fetch(url)).text()).matchAll(SAMPLE))
          input.push({
            series: `${name}{${labels}${labels && ','}${target}}`,
            // These files cannot have NaN. No comparison with it is true, as with a sample that is stale.
            values: value === 'Nan' ? 'stale' : `${value}x30`,
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
      const group = {
        name: 'dashboard',
        rules: queries.map(({ expr }, n) => ({ record: `query_${n}`, expr: filledIn(expr) })),
      };
      writeFileSync(file, stringify({ groups: [group] }));
      expect(() => promtool('check', 'rules', file)).not.toThrow();
    });

    // Samples of the gateways, and what each query of the panel returns for them.
    const [a, b] = ['a', 'b'].map((instance) => `instance="${instance}", job="pdex-gateway"`);
    test.each<readonly [string, string, readonly string[], readonly (readonly string[])[]]>([
      [
        'Not ready',
        'why gateways are not ready, and which do not respond',
        [`up{${a}} 0`, `up{${b}} 1`, `pdex_not_ready{${b}, code="NODE_UNREADABLE"} 1`],
        [[`{${a}, code="no response"} 1`, `pdex_not_ready{${b}, code="NODE_UNREADABLE"} 1`]],
      ],
      [
        'Not ready',
        'that Prometheus knows no gateway',
        [],
        [['{job="pdex-gateway", code="Prometheus knows no gateway"} 1']],
      ],
      [
        'Heights',
        'no height of a gateway and a node that have none yet',
        [`pdex_head_beacon_height{${a}} 0`, `pdex_node_beacon_height{${a}, host="node"} 0`],
        [[], []],
      ],
      [
        'Heights',
        'a node that two gateways read once',
        [`pdex_node_beacon_height{${a}, host="node"} 7`, `pdex_node_beacon_height{${b}, host="node"} 8`],
        [[], ['{host="node"} 8']],
      ],
      [
        'Recorded heights',
        'no height without a history and a head',
        [`pdex_head_beacon_height{${a}} 0`, `pdex_history_recorded_beacon_height{${a}} 0`],
        [[], []],
      ],
      [
        'State of upstreams',
        'what a fleet has read once',
        [a, b].flatMap((gateway) => [
          `pdex_market_data_dropped_rows{${gateway}, list="pairs"} 3`,
          `pdex_push_connected{${gateway}, host="node"} 1`,
        ]),
        [[], [], ['{list="pairs"} 3'], [], ['{host="node"} 0'], []],
      ],
    ])('the panel "%s" shows %s', (name, _, samples, expected) => {
      const folder = mkdtempSync(join(tmpdir(), 'pdex-panel-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'panel.test.yml');
      const partsOf = (sample: string) => [sample.replace(/ \S+$/, ''), /\S+$/.exec(sample)?.[0] ?? ''] as const;
      const series = samples.map(partsOf).map(([series, value]) => ({ series, values: `${value}x2` }));
      const asked = queries
        .filter(({ title }) => title === name)
        .map(({ expr }, n) => ({
          expr: filledIn(expr),
          eval_time: '1m',
          exp_samples: (expected[n] ?? []).map(partsOf).map(([labels, value]) => ({ labels, value: Number(value) })),
        }));
      expect(asked).toHaveLength(expected.length);
      writeFileSync(file, stringify({ tests: [{ interval: '1m', input_series: series, promql_expr_test: asked }] }));
      promtool('test', 'rules', file);
    });
  });
});
