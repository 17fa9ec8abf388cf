import { useSyncExternalStore } from 'react';
import { useGateway } from '../client/gateway.tsx';
import { useConnectionState } from '../client/hooks.ts';
import { Button } from '../parts/button.tsx';
import styles from './banner.module.css';
import { noticesOf } from './notices.ts';
import type { ServiceStatus } from './service-status.ts';

/** Says what stands between the reader and fresh, real data. Screen readers announce a line when it appears. */
export function Banner({ service }: { readonly service: ServiceStatus | undefined }) {
  const { connection, lastStatus, beganAgainAt } = useGateway();
  const state = useConnectionState();
  const status = useSyncExternalStore(lastStatus.subscribe, lastStatus.get);
  const notices = noticesOf({ connection: state, status, service, beganAgainAt, now: Date.now() });
  const canRetry = state.name === 'disconnected' || state.name === 'reconnecting';
  return (
    <div className={styles.banner} data-retry={canRetry || undefined}>
      <div role="status" aria-label="Notices" aria-atomic="false">
        {notices.map(({ key, tone, title, text }) => (
          <p key={key} className={styles.notice} data-tone={tone} data-notice={key}>
            <span className={styles.content}>
              <strong>{`${title}.`}</strong> <span>{text}</span>
            </span>
          </p>
        ))}
      </div>
      {canRetry && (
        <Button className={styles.retry ?? ''} onClick={connection.retryNow}>
          Connect now
        </Button>
      )}
    </div>
  );
}
