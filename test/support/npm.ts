import { delimiter, dirname } from 'node:path';

/**
 * Variables in which the newer Node is in charge, as on the machine of somebody who installs the package. What it compiles is not stored
 * in the folder of the tests.
 */
export const NPM_ENV = {
  ...process.env,
  NODE_COMPILE_CACHE: undefined,
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
};

/** Whether an npm command failed because there is no registry. CI has one, so there it is a failure. */
export function hasNoRegistry(error: unknown): boolean {
  const { stderr } = error as { readonly stderr: string };
  return !process.env['CI'] && /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/.test(stderr);
}
