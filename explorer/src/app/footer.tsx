import { useHead } from '../client/hooks.ts';
import { formatInteger } from '../format/numbers.ts';
import { RelativeTime } from '../parts/relative-time.tsx';
import styles from './footer.module.css';

/** The version of the gateway, the newest height, and where else to go. */
export function Footer({ version }: { readonly version: string | undefined }) {
  const head = useHead();
  return (
    <footer className={styles.footer}>
      <div className={styles.content}>
        <span>
          <span>{version === undefined ? 'pdex-gateway' : `pdex-gateway ${version}`}</span>
          {head && (
            <>
              <span>{' · '}</span>
              <span data-height={head.beaconHeight}>{`height ${formatInteger(head.beaconHeight)}`}</span>
              <span>{' · '}</span>
              <RelativeTime time={head.time} />
            </>
          )}
        </span>
        <nav className={styles.links} aria-label="For programs">
          <a href="/graphql">GraphiQL</a>
          <a href="/schema.graphql">Schema</a>
          <a href="/openapi.json">REST</a>
        </nav>
      </div>
    </footer>
  );
}
