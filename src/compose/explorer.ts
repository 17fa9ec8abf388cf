import type { Log } from '../logging/log.ts';
import {
  BUILD_EXPLORER_COMMAND,
  type BuiltExplorer,
  EXPLORER_FOLDERS,
  readExplorerFiles,
} from '../server/pages/explorer-files.ts';
import type { Config } from '../settings/settings.ts';

/**
 * Reads the built explorer if it is on. It sends operations as texts, so it is off if only persisted documents are executed. The
 * gateway also starts without a build.
 */
export async function readExplorer({ explorer, persistedOnly, publicUrl }: Config, log: Log): Promise<BuiltExplorer> {
  if (!explorer || persistedOnly) return 'off';
  for (const folder of EXPLORER_FOLDERS) {
    const files = await readExplorerFiles(folder, publicUrl);
    if (files !== undefined) return files;
  }
  log.warn(`the explorer is not built: run ${BUILD_EXPLORER_COMMAND}, then start the gateway again`);
  return 'not built';
}
