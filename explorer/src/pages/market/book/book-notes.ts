import type { ConnectionState } from '../../../client/connection.ts';
import type { GatewayError } from '../../../client/errors.ts';
import { explainError } from '../../../parts/error-text.ts';
import type { BookSubscription } from './book.generated.ts';

/** A remark on an order book, in plain words. */
export type BookNote = { readonly text: string; readonly isWarning: boolean };

type StaleBookInput = {
  readonly connection: ConnectionState;
  /** Of the newest attempt to read it. */
  readonly errors: readonly GatewayError[];
  /** Whether it is the book of the market-data host, and not the one on the chain. */
  readonly isOfHost: boolean;
  /** Whether the gateway gets nothing new from where the book comes from. */
  readonly isStale: boolean | undefined;
};

/** Why a book can be older than it should be; empty for one that is live. */
export function notesOfStaleBook({ connection, errors, isOfHost, isStale }: StaleBookInput): BookNote[] {
  // The pairs of a book can fail alone.
  const error = errors.find(({ path: [, field] }) => field !== 'pairs');
  if ('since' in connection) return [{ text: 'This book is old: the gateway cannot be reached.', isWarning: true }];
  if (error !== undefined) return [{ text: `This book is old. ${explainError(error).title}.`, isWarning: true }];
  if (!isStale) return [];
  const reason = isOfHost ? 'the market-data host cannot be read completely' : 'the gateway gets no new blocks';
  return [{ text: `This book may be old: ${reason}.`, isWarning: true }];
}

/** What a reader should know of the orders of a pool: the exchange never matches them with each other. */
export function notesOfChainBook({ isCrossed }: { readonly isCrossed: boolean }): BookNote[] {
  const rule = 'The exchange never matches orders with each other';
  return isCrossed
    ? [
        {
          text: `Crossed: the best bid is above the best ask. ${rule}, so it can stay like this until a trade comes.`,
          isWarning: true,
        },
      ]
    : [{ text: `Open orders of this pool on the chain. ${rule}: a trade meets them and the pool.`, isWarning: false }];
}

/** What a reader should know of how the host sent the book, the most important first. */
export function notesOfBook({ quality, pairs }: Pick<BookSubscription['orderBook'], 'quality' | 'pairs'>): BookNote[] {
  const notes: BookNote[] = [];
  const { isCrossed, wasSorted, entriesDropped, entriesMerged } = quality;
  if (isCrossed) {
    notes.push({
      text: 'Crossed: the best bid is above the best ask. On a working market, such orders would have traded.',
      isWarning: true,
    });
  }
  if (entriesDropped > 0) {
    notes.push({
      text: `${count(entriesDropped, 'order')} without a valid price or quantity left out.`,
      isWarning: true,
    });
  }
  if (!wasSorted) notes.push({ text: 'The host sent the orders unsorted. They are sorted here.', isWarning: false });
  if (entriesMerged > 0) {
    notes.push({ text: `${count(entriesMerged, 'order')} added to another one of the same price.`, isWarning: false });
  }
  if (pairs !== null && pairs.length > 1) {
    notes.push({ text: `${pairs.length} markets have this ticker id and share the book.`, isWarning: false });
  }
  return notes;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
