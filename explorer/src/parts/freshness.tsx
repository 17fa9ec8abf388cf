import { formatInteger } from '../format/numbers.ts';
import { RelativeTime } from './relative-time.tsx';

type FreshnessProps = {
  /** The beacon height that is shown. */
  readonly height?: number | undefined;
  /** When the gateway has read what is shown. */
  readonly observedAt?: string | null | undefined;
};

/** How fresh a panel is: its height, its age, or both. */
export function Freshness({ height, observedAt }: FreshnessProps) {
  return (
    <>
      {height !== undefined && <span>{`height ${formatInteger(height)}`}</span>}
      {height !== undefined && observedAt != null && <span>{' · '}</span>}
      {observedAt != null && <RelativeTime time={observedAt} />}
    </>
  );
}
