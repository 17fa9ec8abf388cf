import { UNKNOWN } from '../format/numbers.ts';
import { shortId } from '../format/prices.ts';
import { CopyButton } from './copy-button.tsx';

type CopyableIdProps = {
  /** An id or a hash; null and undefined if it is not known. */
  readonly id: string | null | undefined;
  /** What is copied, for screen readers: "token id". */
  readonly what: string;
  /** How many of its first and last characters are shown. */
  readonly edge?: number;
};

/** An id in short, with a button that copies it. */
export function CopyableId({ id, what, edge }: CopyableIdProps) {
  if (id == null) return <span>{UNKNOWN}</span>;
  return (
    <>
      <span className="mono" translate="no" title={id}>
        {shortId(id, edge)}
      </span>{' '}
      <CopyButton text={id} what={what} />
    </>
  );
}
