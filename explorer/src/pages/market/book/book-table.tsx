import { formatInColumn, formatPercent, formatPrice, formatQuantity, priceFormatOf } from '../../../format/numbers.ts';
import { nameOfToken } from '../../../format/prices.ts';
import { type Market, nameOfMarket } from '../market.ts';
import styles from './book.module.css';
import type { ShownBook, ShownEntry } from './chain-book.ts';

type BookTableProps = {
  readonly market: Market;
  readonly book: ShownBook;
  /** Whether it is a book of another grouping, while the new one is on its way, or older than it should be. */
  readonly isOutdated: boolean;
};

/** Rows of each side. Both always have as many, so that nothing moves when an order comes or goes. */
export const BOOK_ROWS = 11;

/** Both sides of an order book: asks above, the lowest next to the middle, and bids below. */
export function BookTable({ market, book, isOutdated }: BookTableProps) {
  const { midPrice } = book;
  const [bids, asks] = [book.bids.slice(0, BOOK_ROWS), book.asks.slice(0, BOOK_ROWS)];
  const formatBookPrice = priceFormatOf([...bids, ...asks].map(({ price }) => price));
  const most = Math.max(bids.at(-1)?.cumulativeQuantity ?? 0, asks.at(-1)?.cumulativeQuantity ?? 0);
  const [base, target] = [nameOfToken(market.base), nameOfToken(market.target)];
  const shared = { most, target, formatBookPrice };
  return (
    <table className={styles.table} data-outdated={isOutdated}>
      <caption className="visually-hidden">{`Order book of ${nameOfMarket(market)}`}</caption>
      <thead>
        <tr>
          {[`Price (${target})`, `Quantity (${base})`, `Sum (${base})`].map((name) => (
            <th key={name} scope="col" title={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody translate="no" aria-label="Asks: what sellers want">
        {Array.from({ length: BOOK_ROWS }, (_, row) => BOOK_ROWS - 1 - row).map((place) => (
          <Entry key={place} entry={asks[place]} {...shared} side={styles.ask} />
        ))}
      </tbody>
      <tbody>
        <tr className={styles.middle}>
          <td colSpan={3}>
            <span>
              <b translate="no">{formatPrice(midPrice)}</b>
              <span>{spreadText(book)}</span>
            </span>
          </td>
        </tr>
      </tbody>
      <tbody translate="no" aria-label="Bids: what buyers offer">
        {Array.from({ length: BOOK_ROWS }, (_, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is a place in the book, which other orders take
          <Entry key={place} entry={bids[place]} {...shared} side={styles.bid} />
        ))}
      </tbody>
    </table>
  );
}

type EntryProps = {
  /** Undefined for a place that no order takes. */
  readonly entry: ShownEntry | undefined;
  /** The largest sum. */
  readonly most: number;
  readonly side: string | undefined;
  /** The name of the token in which prices are. */
  readonly target: string;
  readonly formatBookPrice: (price: number) => string;
};

function Entry({ entry, most, side, target, formatBookPrice }: EntryProps) {
  if (entry === undefined) {
    return (
      <tr className={styles.row}>
        <td colSpan={3} />
      </tr>
    );
  }
  const { price, exactPrice, quantity, exactQuantity, cumulativeQuantity, cumulativeTotal } = entry;
  const fill = most === 0 ? 0 : (100 * cumulativeQuantity) / most;
  return (
    <tr className={`${styles.row} ${side}`} style={{ '--fill': `${fill.toFixed(2)}%` }}>
      <td className={styles.price} title={exactPrice}>
        <span>{formatBookPrice(price)}</span>
      </td>
      <td title={exactQuantity}>
        <span>{formatInColumn(quantity, most)}</span>
      </td>
      <td title={`worth ${formatQuantity(cumulativeTotal)} ${target}`}>
        <span>{formatInColumn(cumulativeQuantity, most)}</span>
      </td>
    </tr>
  );
}

function spreadText({ spread, midPrice, isPartial }: ShownBook): string {
  if (spread === null || midPrice === null)
    return isPartial ? 'One side has no order that can be read' : 'One side is empty';
  const percent = midPrice === 0 ? '' : ` (${formatPercent((100 * spread) / midPrice, { sign: false })})`;
  return `Spread ${formatQuantity(spread)}${percent}`;
}
