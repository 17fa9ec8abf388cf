import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConcreteRequest, ReaderFragment } from 'relay-runtime';

const COMPILER = join(import.meta.dirname, '../../../node_modules/.bin/relay-compiler');

/** What Relay's compiler generates from `pools.ts`, in a temporary folder. */
export type Artifacts = {
  read(name: `${string}Query` | `${string}Subscription`): Promise<ConcreteRequest>;
  read(name: string): Promise<ReaderFragment>;
  /** The path of a file that the configuration names. */
  pathOf(name: string): string;
  remove(): void;
};

/**
 * Compiles `pools.ts` against a schema, with the text of a `relay.config.json` and an empty file for persisted documents. Throws
 * what the compiler reports.
 */
export function compileDocuments(schema: string, config: string): Artifacts {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-relay-'));
  const remove = () => rmSync(folder, { recursive: true });
  mkdirSync(join(folder, 'src'));
  copyFileSync(join(import.meta.dirname, 'pools.ts'), join(folder, 'src/pools.ts'));
  writeFileSync(join(folder, 'schema.graphql'), schema);
  writeFileSync(join(folder, 'relay.config.json'), config);
  writeFileSync(join(folder, 'persisted.json'), '{}');
  try {
    execFileSync(COMPILER, ['relay.config.json'], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    remove();
    throw error;
  }
  return {
    read: async (name: string) => (await import(join(folder, `src/__generated__/${name}.graphql.ts`))).default,
    pathOf: (name) => join(folder, name),
    remove,
  };
}
