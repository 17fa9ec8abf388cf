import type { ExchangeVersion } from '../domain/pool-pair.ts';

/** Both versions of the exchange. */
export const VERSIONS: readonly ExchangeVersion[] = ['V1', 'V3'];

/** The version of the pool with that id; see `poolPairId`. */
export function versionOfPool(id: string | undefined = ''): ExchangeVersion {
  return id.indexOf('-') === id.lastIndexOf('-') ? 'V1' : 'V3';
}

/** The number of a version in the database. */
export function toVersionNumber(version: ExchangeVersion): number {
  return version === 'V1' ? 1 : 3;
}
