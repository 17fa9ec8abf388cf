import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { envExample, errorsTable, faultsTable, metricsTable, replacePart, settingsTables } from './doc-tables.ts';

const fileOf = (path: string) => new URL(`../../${path}`, import.meta.url);

function update(path: string, name: string, text: string): void {
  writeFileSync(fileOf(path), replacePart(readFileSync(fileOf(path), 'utf8'), name, text));
}

/** The text of `/metrics` of a gateway that is started for it. */
async function readMetrics(): Promise<string> {
  const gateway = spawn(
    process.execPath,
    ['src/start.js', '--port', '0', '--sandbox', '--redis-url', 'redis://127.0.0.1:1'],
    { cwd: fileOf('.') },
  );
  try {
    for await (const line of createInterface(gateway.stdout)) {
      const { graphql } = JSON.parse(line) as { readonly graphql?: string };
      if (graphql !== undefined) return await (await fetch(new URL('/metrics', graphql))).text();
    }
    throw new Error('the gateway has stopped');
  } finally {
    gateway.kill();
  }
}

writeFileSync(fileOf('.env.example'), envExample());
update('docs/settings.md', 'settings', settingsTables());
update('docs/errors.md', 'codes', errorsTable());
update('docs/sandbox.md', 'faults', faultsTable(readFileSync(fileOf('src/sandbox/faults.ts'), 'utf8')));
update('docs/operating.md', 'metrics', metricsTable(await readMetrics()));
