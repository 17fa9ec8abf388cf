import { LIMITS, type Limits, mapLimits } from '../../src/graphql/limits.ts';

/** The default limits. */
export const DEFAULT_LIMITS: Limits = mapLimits((name) => LIMITS[name].default);
