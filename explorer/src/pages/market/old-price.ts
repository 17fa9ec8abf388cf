import type { ConnectionState } from '../../client/connection.ts';

type OldPriceInput = {
  /** Whether the price is that of the pool, and not the last trade of the market-data host. */
  readonly isOfPool: boolean;
  readonly connection: ConnectionState;
  /** Whether the gateway gets nothing new from where the price comes from. */
  readonly isStale: boolean | undefined;
  /** Whether the tab is not in the background. */
  readonly isVisible: boolean;
};

/** Whether no newer price can come now, which a tab in the background says in its title. */
export function isOldPrice({ isOfPool, connection, isStale, isVisible }: OldPriceInput): boolean {
  if ('since' in connection) return true;
  // A tab in the background has no event streams, and does not follow the last trade.
  const isOverStreams = connection.name === 'connected' && connection.over === 'event-streams';
  if (!isVisible && (isOverStreams || !isOfPool)) return true;
  return isStale === true;
}
