import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFirstStage } from '../deploy/dockerfile.ts';
import { buildOnce } from './build-once.ts';
import { keepBuiltExplorer } from './explorer-build.ts';
import { NPM_ENV } from './npm.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'node_modules/.cache/built-package');
const BUILT = join(PACKAGE, 'dist');

const SOURCES = [
  'src/**/*.*',
  'explorer/{src,public}/**/*.*',
  'explorer/*.*',
  '{build.ts,tsconfig*.json,package.json,package-lock.json,.dockerignore,deploy/Dockerfile}',
];

/** What `npm run build` writes in a folder that has only the files which the Dockerfile copies. @returns the folder `dist` */
export async function buildPackage(): Promise<string> {
  await buildOnce({
    name: 'package',
    output: join(BUILT, 'third-party-licenses.txt'),
    sources: SOURCES,
    async build() {
      const folder = mkdtempSync(join(tmpdir(), 'pdex-build-'));
      try {
        const dockerfile = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8');
        const stage = await buildFirstStage({ dockerfile, context: ROOT, folder, env: NPM_ENV });
        rmSync(PACKAGE, { recursive: true, force: true });
        for (const path of ['dist', 'package.json'])
          cpSync(join(stage, path), join(PACKAGE, path), { recursive: true });
        await keepBuiltExplorer(join(BUILT, 'explorer'));
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  });
  return BUILT;
}

/** Builds the package. @returns its command, which starts in half the time that `src/start.js` takes */
export async function buildCommand(): Promise<string> {
  return join(await buildPackage(), 'start.cjs');
}
