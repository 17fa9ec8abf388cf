import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type ExplorerFiles, readExplorerFiles } from '../../src/server/pages/explorer-files.ts';
import { buildOnce } from './build-once.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXPLORER = join(ROOT, 'explorer');
const DIST = join(EXPLORER, 'dist');

const BUILD = {
  name: 'explorer',
  output: join(DIST, 'index.html'),
  sources: ['explorer/src/**/*.*', 'explorer/public/*', 'explorer/*.{html,ts,json}'],
};

let files: Promise<ExplorerFiles> | undefined;

/** The built explorer. The first test of a run that needs it builds it, unless nothing has changed since the last build. */
export function readBuiltExplorer(): Promise<ExplorerFiles> {
  files ??= build();
  return files;
}

/** Takes over the explorer that the build of the package has written into a folder, unless there is a build of the same sources. */
export function keepBuiltExplorer(folder: string): Promise<void> {
  const build = async () => {
    rmSync(DIST, { recursive: true, force: true });
    cpSync(folder, DIST, { recursive: true });
  };
  return buildOnce({ ...BUILD, build });
}

async function build(): Promise<ExplorerFiles> {
  await buildOnce({ ...BUILD, build: runBuild });
  const built = await readExplorerFiles(pathToFileURL(`${DIST}/`));
  if (built === undefined) throw new Error('the build has written no page');
  return built;
}

async function runBuild(): Promise<void> {
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  // In the environment of a test, React would be built for development.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [vite, 'build', EXPLORER], { env });
}
