import { useState } from 'react';

/**
 * A value, or while it cannot be read the last one that was known: what a reader looks at does not go away because a gateway that
 * has just started cannot answer yet.
 */
export function useLastKnown<Value>(value: Value | undefined, isFailing: boolean): Value | undefined {
  const [known, setKnown] = useState(value);
  if (value !== undefined && value !== known) setKnown(value);
  return value ?? (isFailing ? known : undefined);
}
