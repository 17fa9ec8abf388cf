import { useId } from 'react';
import { TokenBadge } from '../../../parts/token-badge.tsx';
import { type MarketToken, unitOfAmount } from '../market.ts';
import styles from './swap.module.css';

type AmountFieldProps = {
  readonly label: string;
  readonly token: MarketToken;
  readonly value: string;
  /** Whether the value comes from the quote. */
  readonly isComputed: boolean;
  /** Whether the quote of the value is not there yet. */
  readonly isPending: boolean;
  readonly problem: string | undefined;
  readonly onType: (text: string) => void;
};

/** A field for an amount of a token. */
export function AmountField({ label, token, value, isComputed, isPending, problem, onType }: AmountFieldProps) {
  const id = useId();
  const unit = unitOfAmount(token);
  const described = problem !== undefined ? `${id}-problem` : isPending ? `${id}-pending` : undefined;
  return (
    <div className={styles.field} data-invalid={problem !== undefined}>
      <div className={styles.label}>
        <label htmlFor={id}>
          <span>{label}</span>
          <span className="visually-hidden">{` (${unit})`}</span>
        </label>
        {token.decimals === null && <span>in smallest units</span>}
      </div>
      <div className={styles.entry}>
        <input
          id={id}
          className={styles.input}
          inputMode="decimal"
          autoComplete="off"
          spellCheck={false}
          placeholder={isPending ? '…' : '0'}
          maxLength={60}
          value={value}
          data-computed={isComputed}
          aria-invalid={problem !== undefined}
          aria-describedby={described}
          onChange={({ target }) => onType(target.value)}
        />
        <TokenBadge token={token} />
      </div>
      {isPending && (
        <span id={`${id}-pending`} className="visually-hidden">
          is being calculated
        </span>
      )}
      {problem !== undefined && (
        <p id={`${id}-problem`} className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
