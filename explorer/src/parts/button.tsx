import type { ComponentProps } from 'react';
import styles from './button.module.css';

/** A button in the style of the explorer. */
export function Button({ className, ...props }: ComponentProps<'button'>) {
  return <button type="button" className={className ? `${styles.button} ${className}` : styles.button} {...props} />;
}
