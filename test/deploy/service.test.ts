import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../../src/settings/settings.ts';
import { oldNodes } from '../support/old-nodes.ts';

const ROOT = join(import.meta.dirname, '../..');
const UNIT = join(ROOT, 'deploy/pdex-gateway.service');
const ANALYZE = '/usr/bin/systemd-analyze';

/** The values of a directive in the unit. */
const valuesOf = (name: string) =>
  [...readFileSync(UNIT, 'utf8').matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value);

describe('pdex-gateway.service', () => {
  test('starts the gateway with the flags of npm start', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(valuesOf('ExecStart')).toEqual([
      `/usr/bin/${scripts.start.replace('exec ', '').replace('src/start.js', '/opt/pdex-gateway/dist/start.cjs')}`,
    ]);
  });

  // If the machine has an older Node. `dist/start.cjs` is `src/start.js` as CommonJS.
  test.each(oldNodes())('with %s, it logs the needed version once, and does not start again', (node) => {
    const [, ...args] =
      valuesOf('ExecStart')[0]?.replace('/opt/pdex-gateway/dist/start.cjs', 'src/start.js').split(' ') ?? [];
    const { status, stdout, stderr } = spawnSync(node, args, { cwd: ROOT, encoding: 'utf8' });
    expect(stderr).toMatch(/^pdex-gateway needs Node 24 or newer; this is Node \d+\.\d+\.\d+\n$/);
    expect([valuesOf('RestartPreventExitStatus'), stdout]).toEqual([[String(status)], '']);
  });

  test('gives the gateway the time to stop', () => {
    // A database of the history that does not respond takes three seconds more.
    const needed = (Number(SETTINGS.stopWindowMs.default) + Number(SETTINGS.stopTimeoutMs.default)) / 1_000 + 3;
    expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(needed);
  });

  test.each([
    ['systemd', '/etc/pdex-gateway.env'],
    ['Docker Compose', 'deploy/gateway.env'],
  ])('the commands for %s create the file of the settings, and leave it as it is when they run again', (_, path) => {
    const page = readFileSync(join(ROOT, 'docs/deploying.md'), 'utf8');
    const [command = '', ...others] = page
      .split('\n')
      .filter((line) => line.includes('.env.example ') && line.includes(path));
    const folder = mkdtempSync(join(tmpdir(), 'pdex-settings-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'settings.env');
    const run = () => execFileSync('sh', ['-ec', command.replaceAll(path, file)], { cwd: ROOT });
    run();
    expect([readFileSync(file, 'utf8'), others]).toEqual([readFileSync(join(ROOT, '.env.example'), 'utf8'), []]);
    writeFileSync(file, 'FULLNODE_URL=https://node.example/key\n');
    run();
    expect(readFileSync(file, 'utf8')).toBe('FULLNODE_URL=https://node.example/key\n');
  });

  // Without systemd these tests are skipped. CI installs it, and fails if it is missing.
  test.runIf(process.env['CI'])('CI has systemd-analyze', () => expect(existsSync(ANALYZE)).toBe(true));
  describe.skipIf(!existsSync(ANALYZE))('for systemd-analyze', () => {
    test('is valid', () => {
      const { status, stderr } = spawnSync(ANALYZE, ['verify', UNIT], { encoding: 'utf8' });
      // It may also warn of other units of this machine.
      expect([status, stderr.split('\n').filter((line) => line.includes('pdex-gateway'))]).toEqual([0, []]);
    });

    test('exposes little: at most 1.5 of 10', () => {
      const args = ['security', '--offline=true', '--threshold=15', UNIT];
      expect(() => execFileSync(ANALYZE, args, { stdio: 'pipe' })).not.toThrow();
    });
  });
});
