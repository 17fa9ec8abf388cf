import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { serveGatewayForTest } from '../support/served-gateway.ts';

const ROOT = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
const snippets = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, text = '']) => ({
  text,
  uses: [...text.matchAll(/from '([^']+)'/g)].map(([, name]) => name).join(', '),
}));

test('the README shows four clients', () => expect(snippets).toHaveLength(4));

test.each(snippets)('what the README shows runs as it stands, and prints each height: $uses', async ({ text }) => {
  const { url, sandbox } = await serveGatewayForTest();
  const { height } = sandbox.world.tip;
  const { host } = new URL(url);
  expect(text).toContain('127.0.0.1:4000');

  const reader = spawn(process.execPath, ['--input-type=module'], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void reader.kill());
  reader.stdin.end(text.replaceAll('127.0.0.1:4000', host));

  const heights = new Set<number>();
  for await (const line of createInterface(reader.stdout)) {
    const before = heights.size;
    heights.add(Number.parseInt(line, 10));
    if (heights.size === 3) break;
    if (heights.size > before) sandbox.advance();
  }
  expect([...heights]).toEqual([height, height + 1, height + 2]);
});
