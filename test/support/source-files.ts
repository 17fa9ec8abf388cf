import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An import, by statement or by call. */
export type Import = { readonly from: string; readonly isType: boolean };

/** A file of the repository, with its imports. */
type SourceFile = { readonly path: string; readonly text: string; readonly imports: readonly Import[] };

/** The folder of the repository. */
export const ROOT = join(import.meta.dirname, '../..');

const IMPORT = /^(import|export)\s(type\s)?(?:([^'"`;]*?)\sfrom\s)?'([^']+)';$/gms;
const IMPORT_CALL = /\bimport\(\s*'([^']+)'\s*\)/g;

/** What a file imports, by statement or by call; an import all of whose names are types is one of types. */
export function importsOf(text: string): Import[] {
  const statements = [...text.matchAll(IMPORT)].map(([, , type, names = '', from = '']) => ({
    from,
    isType: type !== undefined || /^\{(\s*type\s[^,}]*,?)+\s*\}$/.test(names),
  }));
  const calls = [...text.matchAll(IMPORT_CALL)].map(([, from = '']) => ({ from, isType: false }));
  return [...statements, ...calls];
}

/** The files whose paths in the repository match a pattern, in the order of their paths. */
export function readSources(pattern: string): readonly SourceFile[] {
  return globSync(pattern, { cwd: ROOT })
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      return { path, text, imports: importsOf(text) };
    });
}

/** The files of the gateway and of the sandbox. */
export const sources = readSources('src/**/*.ts');
/** The files of the soak test. */
export const soak = readSources('soak/**/*.ts');
/** The files of the bench. */
export const bench = readSources('bench/{*,load/*,reference-servers/*,report/*,rows/*}.ts');
