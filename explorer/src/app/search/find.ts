import { formatCompact, formatInteger, formatPrice, formatUsd, formatUsdPrice } from '../../format/numbers.ts';
import { nameOfToken, shortId, shortPoolId } from '../../format/prices.ts';
import { type Block, blockPath } from '../../pages/chain/use-blocks.ts';
import { searchRows, sortRows, usdPriceOf } from '../../pages/markets/market-order.ts';
import type { MarketRow, RowToken } from '../../pages/markets/market-rows.ts';
import { findTokens } from '../../pages/tokens/token-list.ts';
import type { Unit } from '../unit.ts';

/** Something that a search has found, and where it is. */
type Found = { readonly path: string; readonly kind: string; readonly name: string; readonly note: string };

/** Where a search looks. */
type SearchedIn = {
  readonly rows: readonly MarketRow[];
  /** In which the rows are. */
  readonly unit: Unit;
  readonly tokens: readonly RowToken[];
  readonly blocks: ReadonlyMap<number, Block>;
  /** The newest height; undefined until it is known. */
  readonly newest: number | undefined;
};

const MOST_MARKETS = 8;
const MOST_TOKENS = 5;

/** Whether a text can be the hash of a block, or the id of a token. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/i.test(text.trim());
}

/** The first results, and how many there are. */
type Results = { readonly found: readonly Found[]; readonly count: number };

/** What a text names: a block by its height or hash, markets and pools, the most traded first, and tokens. */
export function find(search: string, { rows, unit, tokens, blocks, newest }: SearchedIn): Results {
  const text = search.trim();
  if (text === '') return { found: [], count: 0 };
  // The id of PRV consists of digits.
  const isHeight = /^#?\d{1,3}(,?\d{3})*$|^#?\d+$/.test(text) && !isHash(text);
  const height = isHeight ? Number(text.replace(/[#,]/g, '')) : undefined;
  const byHash = isHash(text) ? [...blocks.values()].find(({ hash }) => hash === text.toLowerCase()) : undefined;
  const found: Found[] = [];
  const block = byHash?.beaconHeight ?? height;
  if (block !== undefined && block > 0 && Number.isSafeInteger(block) && (newest === undefined || block <= newest)) {
    found.push({ path: blockPath(block), kind: 'Block', name: formatInteger(block), note: 'of the beacon chain' });
  }
  const markets = sortRows(searchRows(rows, text), 'volume', 'descending');
  const named = findTokens(tokens, text).sort((a, b) => relevanceOf(b, text) - relevanceOf(a, text));
  const count = found.length + markets.length + named.length;
  found.push(...markets.slice(0, MOST_MARKETS).map((row) => foundMarket(row, unit)));
  found.push(...named.slice(0, MOST_TOKENS).map(foundToken));
  return { found, count };
}

/** A market, or a pool without one. */
export function foundMarket(row: MarketRow, unit: Unit): Found {
  const { path, base, target, pair, nodePoolId, terms, targetUsd, volume } = row;
  const isUsd = unit === 'USD';
  const price = isUsd ? usdPriceOf(row.price, targetUsd) : row.price;
  const name = `${nameOfToken(base)}/${nameOfToken(target)}`;
  const notes = [
    (pair?.isAmbiguous || terms) && `pool ${shortPoolId(pair?.poolId ?? nodePoolId ?? '')}`,
    price !== null && (isUsd ? formatUsdPrice(price) : formatPrice(price)),
    volume !== null && `24 h volume ${isUsd ? formatUsd(volume) : `${formatCompact(volume)} PRV`}`,
  ];
  return { path, kind: pair ? 'Market' : 'Pool', name, note: notes.filter(Boolean).join(' · ') };
}

function foundToken(token: RowToken): Found {
  const { tokenId } = token;
  return {
    path: `/tokens?${new URLSearchParams({ search: tokenId })}`,
    kind: 'Token',
    name: nameOfToken(token),
    note: shortId(tokenId),
  };
}

/** An equal symbol comes before one that begins with the text, before all others. */
function relevanceOf({ symbol }: RowToken, text: string): number {
  const [own, wanted] = [symbol?.toLowerCase(), text.toLowerCase()];
  return own === wanted ? 2 : own?.startsWith(wanted) ? 1 : 0;
}
