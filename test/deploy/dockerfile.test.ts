import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasNoRegistry, NPM_ENV } from '../support/npm.ts';
import { buildPackage } from '../support/package-build.ts';
import { freePort } from '../support/ports.ts';
import { buildImage } from './dockerfile.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const dockerfile = read('deploy/Dockerfile');

describe('the Dockerfile', () => {
  test('gives a gateway that serves, is healthy and stops, by its steps in an empty folder', async ({ skip }) => {
    const folder = mkdtempSync(join(tmpdir(), 'pdex-image-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    // npm takes the packages from its cache if `npm ci` has put them there.
    const quickly = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fetch_retries: '1' };
    const env = { ...NPM_ENV, ...quickly };
    const built = await buildPackage();
    const image = await buildImage({ dockerfile, context: ROOT, folder, env, built }).catch((error) => {
      if (hasNoRegistry(error)) skip('npm cannot reach its registry');
      throw error;
    });
    expect(image.user).not.toBe('root');
    expect(existsSync(join(image.folder, '../node_modules/.cache/compiled'))).toBe(true);

    const [port, adminPort] = [await freePort(), await freePort()];
    const { PATH } = NPM_ENV;
    const ports = { PORT: String(port), ADMIN_PORT: String(adminPort), STOP_WINDOW_MS: '0' };
    // The check asks the gateway itself, also where all other hosts are behind a proxy.
    const proxy = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1' };
    const options = { cwd: image.folder, env: { PATH, ...image.env, ...ports, ...proxy, SANDBOX: 'true' } };
    const [command, ...args] = image.command;
    const gateway = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void gateway.kill('SIGKILL'));
    for await (const line of createInterface(gateway.stdout)) if (JSON.parse(line).msg === 'serving') break;
    gateway.stdout.resume();

    const response = await fetch(`http://127.0.0.1:${port}/graphql?query={service{sandbox}}`);
    expect(await response.json()).toEqual({ data: { service: { sandbox: true } } });

    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${adminPort}/metrics`)).status).toBe(200);

    const [check, ...checkArgs] = image.healthcheck;
    const runCheck = () => promisify(execFile)(check, checkArgs, options);
    await expect(runCheck()).resolves.toBeDefined();
    gateway.kill('SIGTERM');
    expect(await once(gateway, 'exit')).toEqual([0, null]);
    await expect(runCheck()).rejects.toMatchObject({ code: 1 });
  });

  test('copies only what .dockerignore lets through', () => {
    const allowed = [...read('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, path]) => path);
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, paths = '']) =>
      paths.split(' '),
    );
    const isInside = (path: string) => copied.some((folder) => path.startsWith(`${folder}/`));
    expect([...new Set(copied)].filter((path) => !isInside(path)).toSorted()).toEqual(allowed.toSorted());
  });

  test('has the flags of npm start, in its command and where it fills the compile cache', () => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: { readonly start: string } };
    const [, command = ''] = /^CMD (.*)$/m.exec(dockerfile) ?? [];
    const started = scripts.start.replace('exec ', '').replace('src/start.js', 'dist/start.cjs');
    // The command runs in the folder of the history.
    expect(JSON.parse(command).join(' ')).toBe(started.replace('dist/', '../dist/'));
    expect(dockerfile).toContain(`\nRUN ${started} --version\n`);
  });
});
