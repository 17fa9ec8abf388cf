import { useId } from 'react';
import { formatDecimal } from '../../../format/amounts.ts';
import { nameOfToken } from '../../../format/prices.ts';
import type { Market } from '../market.ts';
import styles from './book.module.css';
import { groupingsOf } from './grouping.ts';

type GroupingChoiceProps = {
  readonly market: Market;
  readonly midPrice: number | null | undefined;
  readonly groupBy: string | null;
  readonly onChange: (value: string) => void;
};

/** Chooses the step to which prices are rounded. */
export function GroupingChoice({ market, midPrice, groupBy, onChange }: GroupingChoiceProps) {
  const id = useId();
  const steps = groupingsOf(midPrice);
  // A step of the URL that is not offered can still be seen.
  const shown = groupBy === null || steps.includes(groupBy) ? steps : [groupBy, ...steps];
  return (
    <span className={styles.grouping}>
      <label htmlFor={id}>Group prices by</label>
      <select id={id} className={styles.select} value={groupBy ?? ''} onChange={({ target }) => onChange(target.value)}>
        <option value="">not grouped</option>
        {shown.map((step) => (
          <option key={step} value={step}>
            {`${formatDecimal(step)} ${nameOfToken(market.target)}`}
          </option>
        ))}
      </select>
    </span>
  );
}
