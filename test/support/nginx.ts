import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Where Debian's nginx is. */
export const NGINX = '/usr/sbin/nginx';

/** Starts nginx as a cache in front of a server, for one test. @returns its address */
export async function startCache(origin: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-nginx-'));
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  writeFileSync(config, configOf(folder, port, new URL(origin).host));
  const nginx = spawn(NGINX, ['-p', folder, '-e', 'stderr', '-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
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
    const isThere = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return url;
    if (nginx.exitCode !== null) throw new Error(`nginx ended: ${said}`);
  }
}

/** What an operator would write; `x-cache` tells what the cache did. */
function configOf(folder: string, port: number, host: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
    daemon off;
    master_process off;
    pid ${folder}/pid;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
