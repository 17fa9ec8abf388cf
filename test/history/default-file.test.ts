import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const START = fileURLToPath(new URL('../../src/start.js', import.meta.url));

/** Nothing is read-only for root, so that root starts the gateway as a user with the id that Linux gives to nobody. */
const asUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const canStart = spawnSync(process.execPath, ['-e', `fs.accessSync('${START}')`], asUser).status === 0;

/** Starts a gateway for a real node in a working directory, and waits until it has ended. */
function startIn(cwd: string, args: readonly string[] = []) {
  const { HISTORY_DATABASE: _, ...env } = process.env;
  const all = [START, '--fullnode-url=http://127.0.0.1:1', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, all, { cwd, env, ...asUser, encoding: 'utf8' });
  return { status, stdout, stderr };
}

// A checkout that only root can read cannot be started as another user.
test.skipIf(!canStart)('if the default file of the history cannot be written, one line says what to set', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-default-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o555);
  const problem = `its default pdex-history.sqlite cannot be used: the folder ${folder} cannot be written`;
  const stderr = `pdex-gateway: HISTORY_DATABASE is not set, and ${problem}; set a path, memory or off\n`;
  expect(startIn(folder)).toEqual({ status: 2, stdout: '', stderr });
  // With another wrong setting the gateway ends by itself.
  const memory = startIn(folder, ['--history-database=memory', '--port=x']);
  expect(memory).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(/^pdex-gateway: --port [^\n]*\n$/) });
});
