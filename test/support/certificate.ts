import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { onTestFinished } from 'vitest';

/** Where Debian has OpenSSL. */
const OPENSSL = '/usr/bin/openssl';

/** Whether tests with certificates can run on this machine. CI installs OpenSSL. */
export const hasOpenssl = existsSync(OPENSSL);

/** A certificate that signs itself, with its key: as text, and in the files `fullchain.pem` and `privkey.pem` of a folder. */
export type Certificate = {
  readonly folder: string;
  readonly certFile: string;
  readonly cert: string;
  readonly key: string;
};

/** Makes a certificate for one test. @param subject names the server, such as `DNS:localhost` or `IP:127.0.0.1` */
export function makeCertificate(subject: string): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-certificate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [certFile, keyFile] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
  const names = ['-subj', '/CN=pdex-gateway test', '-addext', `subjectAltName=${subject}`];
  execFileSync(OPENSSL, ['req', '-x509', ...key, ...names, '-out', certFile], { stdio: 'pipe' });
  return { folder, certFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}

/** Serves a server over TLS for one test, as a proxy in front of it does. @returns its host and port */
export async function serveOverTls(url: string, { cert, key }: Certificate): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer({ cert, key }, (socket) => {
    const target = connect(Number(new URL(url).port), '127.0.0.1');
    for (const each of [socket, target]) {
      sockets.add(each);
      each.on('error', () => {});
    }
    socket.pipe(target).pipe(socket);
  });
  // Each client that refuses the certificate ends its handshake with an alert.
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
