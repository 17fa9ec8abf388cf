import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
