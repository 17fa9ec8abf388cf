import { useSyncExternalStore } from 'react';
import { useGateway } from '../client/gateway.tsx';
import { useConnectionState } from '../client/hooks.ts';
import { Button } from '../parts/button.tsx';
import styles from './banner.module.css';
import { lastingNotices, type Notice, noticesOf } from './notices.ts';
import { type ServiceStatus, servedNotices } from './service-status.ts';

type BannerProps = { readonly service: ServiceStatus | undefined };

/** Says above the page what its numbers are as long as the gateway runs. It is there when the page is drawn first. */
export function Banner({ service }: BannerProps) {
  return <Notices notices={lastingNotices(service, servedNotices())} />;
}

/**
 * Says at the end of the window what stands between the reader and fresh data. It covers the end of the page, and moves nothing
 * when it comes and goes. Screen readers announce a line when it appears.
 */
export function LateBanner({ service }: BannerProps) {
  const { connection, lastStatus, beganAgainAt } = useGateway();
  const state = useConnectionState();
  const status = useSyncExternalStore(lastStatus.subscribe, lastStatus.get);
  const notices = noticesOf({ connection: state, status, service, beganAgainAt, now: Date.now() });
  const canRetry = state.name === 'disconnected' || state.name === 'reconnecting';
  return (
    // What scrolls must be reachable with the keyboard.
    <section
      className={styles.late}
      data-retry={canRetry || undefined}
      {...(notices.length > 0 && { tabIndex: 0, 'aria-label': 'Current notices' })}
    >
      <Notices notices={notices} />
      {canRetry && (
        <Button className={styles.retry ?? ''} onClick={connection.retryNow}>
          Connect now
        </Button>
      )}
    </section>
  );
}

function Notices({ notices }: { readonly notices: readonly Notice[] }) {
  return (
    <div role="status" aria-label="Notices" aria-atomic="false">
      {notices.map(({ key, tone, title, text }) => (
        <p key={key} className={styles.notice} data-tone={tone} data-notice={key}>
          <span className={styles.content}>
            <strong>{`${title}.`}</strong> <span>{text}</span>
          </span>
        </p>
      ))}
    </div>
  );
}
