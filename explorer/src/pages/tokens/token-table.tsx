import { Link } from 'react-router';
import { NO_USD_PRICE, type Unit, useUnit } from '../../app/unit.ts';
import { formatInteger, formatPrice, formatUsdPrice, UNKNOWN } from '../../format/numbers.ts';
import { CopyableId } from '../../parts/copyable-id.tsx';
import { LiveNumber } from '../../parts/live-number.tsx';
import { type SortDirection, SortHeader } from '../../parts/sort-header.tsx';
import { useSteady } from '../../parts/steady.ts';
import tableStyles from '../../parts/table.module.css';
import { TokenBadge } from '../../parts/token-badge.tsx';
import { RowSpace, useVirtualRows } from '../../parts/virtual-rows.tsx';
import { priceIn, type TokenSort } from './token-list.ts';
import type { TokenRowFragment } from './tokens.generated.ts';
import styles from './tokens.module.css';

type TokenTableProps = {
  readonly tokens: readonly TokenRowFragment[];
  readonly sort: TokenSort;
  readonly direction: SortDirection;
  readonly onSort: (sort: TokenSort) => void;
};

/** The tokens as a table. Only the rows near the screen exist, so that a list of any length scrolls smoothly. */
export function TokenTable({ tokens: newest, sort, direction, onSort }: TokenTableProps) {
  const { steady: tokens, handlers } = useSteady(newest);
  const unit = useUnit();
  const { table, first, end, before, after } = useVirtualRows(tokens.length);
  const header = (of: TokenSort) => ({
    direction: sort === of ? direction : undefined,
    onSort: () => onSort(of),
  });

  return (
    <table
      {...handlers}
      ref={table}
      className={`${tableStyles.table} ${tableStyles.fixed} ${styles.table}`}
      aria-rowcount={tokens.length + 1}
    >
      <thead>
        <tr aria-rowindex={1}>
          <SortHeader {...header('name')}>Token</SortHeader>
          <SortHeader {...header('price')} isNumber>
            {`Price in ${unit}`}
          </SortHeader>
          <SortHeader {...header('pools')} isNumber>
            Pools
          </SortHeader>
          <SortHeader {...header('decimals')} isNumber>
            Decimals
          </SortHeader>
          <th scope="col">Token id</th>
        </tr>
      </thead>
      <RowSpace height={before} />
      <tbody translate="no">
        {tokens.slice(first, end).map((token, place) => (
          <TokenRow key={token.tokenId} token={token} index={first + place} unit={unit} />
        ))}
      </tbody>
      <RowSpace height={after} />
    </table>
  );
}

type TokenRowProps = { readonly token: TokenRowFragment; readonly index: number; readonly unit: Unit };

function TokenRow({ token, index, unit }: TokenRowProps) {
  const { tokenId, decimals, poolCount } = token;
  const isUsd = unit === 'USD';
  const price = priceIn(unit, token);
  return (
    <tr aria-rowindex={index + 2}>
      <th scope="row">
        <Link to={`/?${new URLSearchParams({ search: tokenId })}`} className={styles.name ?? ''}>
          <TokenBadge token={token} />
        </Link>
      </th>
      <td className={tableStyles.number} title={isUsd && price === null ? NO_USD_PRICE : undefined}>
        <LiveNumber key={unit} value={price}>
          {isUsd ? formatUsdPrice(price) : formatPrice(price)}
        </LiveNumber>
      </td>
      <td className={tableStyles.number}>{formatInteger(poolCount)}</td>
      <td className={tableStyles.number}>{decimals ?? UNKNOWN}</td>
      <td>
        <CopyableId id={tokenId} what="token id" />
      </td>
    </tr>
  );
}
