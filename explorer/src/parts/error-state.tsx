import { useLastingKeys } from '../app/service-status.ts';
import type { GatewayError } from '../client/errors.ts';
import { Button } from './button.tsx';
import { EmptyState } from './empty-state.tsx';
import { explainError } from './error-text.ts';
import styles from './state.module.css';

type ErrorStateProps = {
  /** The first one is explained; the others have the same cause nearly always. */
  readonly errors: readonly GatewayError[];
  readonly retry?: (() => void) | undefined;
};

/** Says in plain words why there is nothing to show. */
export function ErrorState({ errors, retry }: ErrorStateProps) {
  const isUnrecorded = useLastingKeys().includes('history');
  const [error] = errors;
  if (error === undefined) return null;
  if (error.code === 'HISTORY_UNAVAILABLE' && isUnrecorded)
    return <EmptyState title="This gateway records no history" />;
  const { title, text, retries } = explainError(error);
  return (
    <div className={styles.state} data-error={error.code}>
      <p className={styles.title}>{title}</p>
      <p className={styles.text}>{text}</p>
      {retries && retry && <Button onClick={retry}>Try again</Button>}
      {error.code !== 'DISCONNECTED' && <code className={styles.code}>{error.code}</code>}
    </div>
  );
}
