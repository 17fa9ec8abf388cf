import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'react-router';
import { useHead } from '../../client/hooks.ts';
import { formatInteger } from '../../format/numbers.ts';
import { MOST_BLOCKS, useBlocks } from '../../pages/chain/use-blocks.ts';
import { rowsOf } from '../../pages/markets/market-rows.ts';
import { useMarketList } from '../../pages/markets/use-market-list.ts';
import { ErrorState } from '../../parts/error-state.tsx';
import { isFavourite, useFavourites } from '../favourites.ts';
import { useHasHistory } from '../service-status.ts';
import { useUnit } from '../unit.ts';
import { find, foundMarket, isHash } from './find.ts';
import styles from './search.module.css';

const NOTHING = { markets: [], pools: [] };

/** The search for everything: the favourites first, then what the text names. Arrow keys go through the results. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const pressed = useRef<EventTarget>(null);
  const [text, setText] = useState('');
  useEffect(() => {
    dialog.current?.showModal();
    // “Back” and “forward” lead to another page.
    const leave = () => dialog.current?.close();
    addEventListener('popstate', leave);
    return () => removeEventListener('popstate', leave);
  }, []);
  // The browser gives the focus back to where it was.
  const close = () => dialog.current?.close();

  // The list of the page below keeps what it has read.
  const isByChange = new URLSearchParams(location.search).get('sort') === 'change';
  const hasHistory = useHasHistory();
  const { data, errors, retry } = useMarketList(isByChange && hasHistory === true);
  const unit = useUnit();
  const { markets, pools } = useMemo(() => (data === undefined ? NOTHING : rowsOf(data, unit)), [data, unit]);
  const rows = useMemo(() => [...new Set([...markets, ...pools])], [markets, pools]);
  const newest = useHead()?.beaconHeight;
  const marked = useFavourites();
  const { byHeight } = useBlocks(MOST_BLOCKS, { pause: !isHash(text) });
  const isEmpty = text.trim() === '';
  const favourites = rows.filter(({ poolIds }) => isFavourite(marked, poolIds));
  const { found, count } = isEmpty
    ? { found: favourites.map((row) => foundMarket(row, unit)), count: favourites.length }
    : find(text, { rows, unit, tokens: data?.tokens ?? [], blocks: byHeight, newest });

  function onKeyDown(event: KeyboardEvent<HTMLDialogElement>): void {
    // These keys belong to the input method.
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input, a')];
    if (step !== undefined) {
      event.preventDefault();
      const index = stops.indexOf(document.activeElement as HTMLElement) + step;
      stops[(index + stops.length) % stops.length]?.focus();
    }
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) stops[1]?.click();
  }

  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label="Search"
      onClose={onClose}
      onKeyDown={onKeyDown}
      onPointerDown={({ target }) => {
        pressed.current = target;
      }}
      // A click beside the dialog. A selection that ends there is a click too, but begins in the dialog.
      onClick={({ target }) => target === dialog.current && target === pressed.current && close()}
    >
      <div className={styles.content}>
        <div className={styles.head}>
          <input
            type="search"
            className={styles.input}
            aria-label="Search everything"
            placeholder="Market, token, id, block height or hash"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          <button type="button" className={styles.close} onClick={close}>
            Close
          </button>
        </div>
        <p className={styles.count} role="status">
          {statusOf()}
        </p>
        {found.length > 0 && (
          <ul className={styles.results} translate="no">
            {found.map(({ path, kind, name, note }) => (
              <li key={`${kind} ${path}`}>
                <Link to={path} className={styles.result ?? ''} onClick={close}>
                  <span className={styles.kind}>{kind}</span>
                  <span className={styles.name}>{name}</span>
                  <span className={styles.note}>{note}</span>
                </Link>
              </li>
            ))}
          </ul>
        )}
        {data === undefined && errors.length > 0 && <ErrorState errors={errors} retry={retry} />}
      </div>
    </dialog>
  );

  function statusOf(): string {
    if (isEmpty) return found.length > 0 ? 'Favourites' : 'For example BTC-PRV, Bitcoin, a token id, or a height';
    if (data === undefined && found.length === 0) return errors.length > 0 ? '' : 'Loading the markets…';
    if (found.length < count) return `The first ${found.length} of ${formatInteger(count)} found`;
    if (found.length > 0) return `${found.length} found`;
    if (isHash(text))
      return `Nothing has this id. At most the newest ${MOST_BLOCKS} blocks are found by their hash, if they are recorded.`;
    return /^\d+$/.test(text.trim()) && newest !== undefined
      ? `Nothing found. The newest block is ${formatInteger(newest)}.`
      : 'Nothing found';
  }
}
