import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { UpstreamBadShapeError } from '../../errors.ts';

/** Behind a load balancer, a state or its orders can be those of another block. They are read at most this number of times. */
export const CALLS_FOR_A_BLOCK = 4;

/** Why a node is not called. */
export const TOO_MANY_ERRORS =
  'responded with too many errors in the last minutes, so the gateway limits reads of earlier states';

/** The error for a state that can be of another block than that of its height. */
export function branchError(height: BeaconHeight, host: string): UpstreamBadShapeError {
  return new UpstreamBadShapeError('NODE', `its state of beacon height ${height} can be of a branch`, { host });
}
