import type { ComponentProps } from 'react';
import styles from './button.module.css';
import { useFocusHandover } from './focus-handover.ts';

type ButtonProps = Omit<ComponentProps<'button'>, 'ref' | 'disabled'> & {
  /** Whether it does nothing for now. It keeps the focus, which a disabled button would lose. */
  readonly isBusy?: boolean;
};

/** A button in the style of the explorer. */
export function Button({ className, isBusy = false, onClick, ...props }: ButtonProps) {
  return (
    <button
      ref={useFocusHandover()}
      type="button"
      className={className ? `${styles.button} ${className}` : styles.button}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? undefined : onClick}
      {...props}
    />
  );
}
