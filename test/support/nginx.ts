import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './ports.ts';

/** Where Debian's nginx is. */
export const NGINX = '/usr/sbin/nginx';

/** Starts nginx as a cache in front of a server, for one test. @returns its address */
export function startCache(origin: string): Promise<string> {
  return startNginx((port, folder) => cacheConfig(folder, port, new URL(origin).host));
}

/**
 * Starts nginx for one test, in one process, with the configuration for a port and a folder for its files.
 *
 * @returns its address, once it answers
 */
export async function startNginx(configOf: (port: number, folder: string) => string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-nginx-'));
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  writeFileSync(config, inFolder(configOf(port, folder), folder));
  const oneProcess = `daemon off; master_process off; pid ${folder}/pid;`;
  const args = ['-p', folder, '-e', 'stderr', '-c', config, '-g', oneProcess];
  const nginx = spawn(NGINX, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  nginx.stderr.on('data', (text) => {
    said += text;
  });
  onTestFinished(async () => {
    if (nginx.exitCode === null) {
      nginx.kill('SIGKILL');
      await once(nginx, 'exit');
    }
    rmSync(folder, { recursive: true });
  });

  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isThere) return url;
    if (nginx.exitCode !== null) throw new Error(`nginx ended: ${said}`);
  }
}

/** The configuration with all temporary files in a folder, because the usual ones belong to root. */
export function inFolder(config: string, folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return config.replace('http {', `$&\n${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}`);
}

/** What an operator would write; `x-cache` tells what the cache did. */
function cacheConfig(folder: string, port: number, host: string): string {
  return `
    events {}
    http {
      access_log off;
      proxy_cache_path ${folder}/cache keys_zone=gateway:1m;
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://${host};
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_cache gateway;
          proxy_cache_revalidate on;
          proxy_cache_lock on;
          add_header x-cache $upstream_cache_status always;
        }
      }
    }`;
}
