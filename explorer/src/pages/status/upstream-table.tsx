import type { UpstreamFieldsFragment } from '../../app/service.generated.ts';
import { explainError } from '../../parts/error-text.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import tableStyles from '../../parts/table.module.css';
import { StateBadge, type Tone } from './state-badge.tsx';
import styles from './status.module.css';

const NAMES = { NODE: 'Node', MARKET_DATA: 'Market-data host' } as const;

/** The upstreams: whether they answer, since when, and what went wrong last. */
export function UpstreamTable({ upstreams }: { readonly upstreams: readonly UpstreamFieldsFragment[] }) {
  return (
    <Scroller label="Upstreams and their state">
      <table className={`${tableStyles.table} ${tableStyles.fixed} ${styles.upstreams}`}>
        <thead>
          <tr>
            <th scope="col">Upstream</th>
            <th scope="col">State</th>
            <th scope="col">Last success</th>
            <th scope="col">Last error</th>
          </tr>
        </thead>
        <tbody>
          {upstreams.map((upstream) => (
            <UpstreamRow key={upstream.upstream} upstream={upstream} />
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

function UpstreamRow({ upstream }: { readonly upstream: UpstreamFieldsFragment }) {
  const { configured, lastSuccessAt, lastErrorAt, lastErrorCode } = upstream;
  const [tone, state] = stateOf(upstream);
  return (
    <tr>
      <th scope="row">{NAMES[upstream.upstream]}</th>
      <td>
        <StateBadge tone={tone}>{state}</StateBadge>
      </td>
      <td>{configured ? <RelativeTime time={lastSuccessAt} /> : '–'}</td>
      <td className={styles.wrapping}>
        {lastErrorCode === null ? (
          <span className={styles.muted}>none</span>
        ) : (
          <>
            <span>{`${explainUpstream(upstream)},`}</span> <RelativeTime time={lastErrorAt} />{' '}
            <code className={styles.code} translate="no">
              {lastErrorCode}
            </code>
          </>
        )}
      </td>
    </tr>
  );
}

/** What went wrong last with an upstream, in a few words. */
export function explainUpstream({ upstream, lastErrorCode }: UpstreamFieldsFragment): string {
  const code = lastErrorCode ?? '';
  return explainError({ code, message: code, path: [], upstream }).title;
}

function stateOf({ configured, healthy, lastSuccessAt, lastErrorAt }: UpstreamFieldsFragment): readonly [Tone, string] {
  if (!configured) return ['neutral', 'not configured'];
  if (healthy) return ['good', 'responds'];
  return lastSuccessAt === null && lastErrorAt === null ? ['neutral', 'not called yet'] : ['bad', 'fails'];
}
