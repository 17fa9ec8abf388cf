import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { START } from '../support/gateway-process.ts';

/** Nothing is read-only for root, except without this capability of Linux. */
const asUser = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : [];

/** Runs Node with these arguments. */
function runNode(args: readonly string[], cwd = '/') {
  const { HISTORY_DATABASE: _, ...env } = process.env;
  const [command = '', ...all] = [...asUser, process.execPath, ...args];
  return spawnSync(command, all, { cwd, env, encoding: 'utf8' });
}

/** Starts a gateway for a real node in a working directory, and waits until it has ended. */
function startIn(cwd: string, args: readonly string[] = []) {
  const { status, stdout, stderr } = runNode([START, '--fullnode-url=http://127.0.0.1:1', ...args], cwd);
  return { status, stdout, stderr };
}

// Only Linux can take the capability from root.
test.skipIf(runNode(['--version']).status !== 0)(
  'if the default file of the history cannot be written, one line says what to set',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'pdex-default-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    chmodSync(folder, 0o555);
    const problem = `its default pdex-history.sqlite cannot be used: the folder ${folder} cannot be written`;
    const stderr = `pdex-gateway: HISTORY_DATABASE is not set, and ${problem}; set a path, memory or off\n`;
    expect(startIn(folder)).toEqual({ status: 2, stdout: '', stderr });
    // With another wrong setting the gateway ends by itself.
    const memory = startIn(folder, ['--history-database=memory', '--port=x']);
    expect(memory).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^pdex-gateway: --port [^\n]*\n$/) });
  },
);
