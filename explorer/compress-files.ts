import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** The files that become smaller. Images and fonts are compressed already. */
const COMPRESSIBLE = /\.(html|js|css|svg|json|txt)$/;

/**
 * Writes each text file of the build compressed, too: beside `a.js` stand `a.js.br` and `a.js.gz`. The gateway sends these as they
 * are, so that no request compresses anything. Only the page is compressed again: the gateway changes it at its start.
 */
export function compressFiles(): Plugin {
  return {
    name: 'compress-files',
    apply: 'build',
    writeBundle: {
      order: 'post',
      sequential: true,
      async handler({ dir = '' }, files) {
        const names = Object.keys(files).filter((name) => COMPRESSIBLE.test(name));
        await Promise.all(names.map(async (name) => writeCompressed(join(dir, name), await readFile(join(dir, name)))));
      },
    },
  };
}

/** Writes a file compressed: as `path.br` and `path.gz`. */
export async function writeCompressed(
  path: string,
  bytes: Buffer,
  brotliQuality = constants.BROTLI_MAX_QUALITY,
): Promise<void> {
  const params = {
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
  };
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(bytes, { params }),
    promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}
