import { nameOfToken } from '../format/prices.ts';
import styles from './token-badge.module.css';

type TokenBadgeProps = {
  readonly token: { readonly tokenId: string; readonly symbol: string | null };
};

/** A token: a coloured sign, which is the same wherever the token is shown, and its name. */
export function TokenBadge({ token }: TokenBadgeProps) {
  const name = nameOfToken(token);
  const initial = (token.symbol ?? '?').replace(/^p(?=[A-Z])/, '').slice(0, 1);
  return (
    <span className={styles.badge} translate="no">
      <span className={styles.sign} style={{ '--hue': hueOf(token.tokenId) }} data-initial={initial} />
      <span className={styles.name} title={token.tokenId}>
        {name}
      </span>
    </span>
  );
}

/** A colour for a token, by its id. */
function hueOf(tokenId: string): number {
  let hash = 7;
  for (const character of tokenId) hash = (hash * 31 + character.charCodeAt(0)) % 3_600;
  return hash / 10;
}
