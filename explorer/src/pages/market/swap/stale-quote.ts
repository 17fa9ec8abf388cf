import type { ConnectionState } from '../../../client/connection.ts';

type StaleQuoteInput = {
  readonly quotedAt: number;
  readonly connection: ConnectionState;
  /** The newest head that the page knows. */
  readonly head: { readonly beaconHeight: number; readonly stale: boolean } | undefined;
};

/** A quote comes a moment after its head. So one height of difference is usual. */
const USUAL_LAG = 1;

/** Why a quote is older than it should be, for the reader; undefined for one that is fresh. */
export function staleQuoteReason({ quotedAt, connection, head }: StaleQuoteInput): string | undefined {
  if (connection.name === 'reconnecting' || connection.name === 'disconnected')
    return 'This quote is old: the gateway cannot be reached. The page requests a new quote as soon as it can.';
  if (head === undefined) return undefined;
  if (head.stale) return 'This quote is old: the gateway gets no new blocks. The reserves may have changed.';
  if (head.beaconHeight - quotedAt > USUAL_LAG)
    return 'This quote is some heights old. The page is waiting for a newer one.';
  return undefined;
}
