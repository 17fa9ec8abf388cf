import { createHash } from 'node:crypto';

/**
 * The header that gives a client of this name its own address, as a proxy does. All clients of the soak test run on one machine,
 * and the gateway queues and limits requests by address.
 */
export function addressHeader(name: string): { readonly 'x-forwarded-for': string } {
  const [a, b, c] = createHash('sha256').update(name).digest();
  return { 'x-forwarded-for': `10.${a}.${b}.${c}` };
}
