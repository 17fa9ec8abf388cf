import { isFavourite, toggleFavourite, useFavourites } from '../app/favourites.ts';
import styles from './favourite-button.module.css';
import { useFocusHandover } from './focus-handover.ts';

type FavouriteButtonProps = {
  /** The name of the market, for screen readers. */
  readonly name: string;
  /** The pool ids of all its pairs. */
  readonly poolIds: readonly string[];
};

/** A star that marks a market as a favourite, in this browser. */
export function FavouriteButton({ name, poolIds }: FavouriteButtonProps) {
  const isMarked = isFavourite(useFavourites(), poolIds);
  return (
    <button
      ref={useFocusHandover()}
      type="button"
      className={styles.button}
      aria-label={`Favourite: ${name}`}
      title={isMarked ? 'Remove from the favourites' : 'Add to the favourites'}
      aria-pressed={isMarked}
      onClick={() => toggleFavourite(poolIds)}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M8 1.8l1.9 3.9 4.3.6-3.1 3 .7 4.3L8 11.6l-3.8 2 .7-4.3-3.1-3 4.3-.6z" />
      </svg>
    </button>
  );
}
