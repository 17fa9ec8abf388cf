import { Page } from '../../app/page.tsx';
import { useGatewayQuery } from '../../client/hooks.ts';
import { Answered } from '../../parts/answered.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Skeleton, SkeletonRows } from '../../parts/skeleton.tsx';
import tableStyles from '../../parts/table.module.css';
import { CoverageDocument } from './coverage.generated.ts';
import { CoveragePanel } from './coverage-panel.tsx';
import { ConnectionList, FreshnessList } from './freshness-panel.tsx';
import { toLimitRows } from './limit-rows.ts';
import { LimitsDocument } from './limits.generated.ts';
import { StatusDocument } from './status.generated.ts';
import styles from './status.module.css';
import { UpstreamTable } from './upstream-table.tsx';

const NO_VARIABLES = {};
const EVERY_MS = 5_000;
const NOTHING = <EmptyState title="The gateway has sent nothing" />;

/** How fresh the data is and why it may not be, what is recorded, and what the gateway limits. */
export function StatusPage() {
  const status = useGatewayQuery(StatusDocument, NO_VARIABLES, { refresh: EVERY_MS });
  const coverage = useGatewayQuery(CoverageDocument, NO_VARIABLES, { refresh: 'each-height' });
  const limits = useGatewayQuery(LimitsDocument, NO_VARIABLES);
  const version = status.data?.service.version;

  return (
    <Page title="Status" description={version === undefined ? 'This gateway' : `pdex-gateway ${version}`}>
      <Panel title="Freshness" query={status.query}>
        <div className={styles.freshness}>
          <ConnectionList />
          <Answered
            answer={status}
            pick={({ service }) => service}
            at={['service']}
            skeleton={<Skeleton lines={3} />}
            empty={NOTHING}
          >
            {(service) => <FreshnessList service={service} />}
          </Answered>
        </div>
      </Panel>
      <Panel title="Upstreams" query={status.query} isFlush>
        <Answered
          answer={status}
          pick={({ service }) => service.upstreams}
          at={['service']}
          skeleton={<SkeletonRows rows={3} />}
          empty={NOTHING}
        >
          {(upstreams) => <UpstreamTable upstreams={upstreams} />}
        </Answered>
      </Panel>
      <CoveragePanel answer={coverage} />
      <Panel title="Limits" query={limits.query} isFlush>
        <Answered
          answer={limits}
          pick={({ service }) => service.limits}
          at={['service']}
          skeleton={<SkeletonRows rows={19} />}
          empty={NOTHING}
        >
          {(known) => (
            <table className={`${tableStyles.table} ${tableStyles.fixed} ${styles.limits}`}>
              <thead>
                <tr>
                  <th scope="col">At most</th>
                  <th scope="col" className={tableStyles.number}>
                    Limit
                  </th>
                  <th scope="col" className={styles.field}>
                    Field
                  </th>
                </tr>
              </thead>
              <tbody>
                {toLimitRows(known).map(({ name, meaning, value }) => (
                  <tr key={name}>
                    <th scope="row" className={styles.wrapping}>
                      {meaning}
                    </th>
                    <td className={tableStyles.number}>{value}</td>
                    <td className={styles.field}>
                      <code translate="no">{name}</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Answered>
      </Panel>
    </Page>
  );
}
