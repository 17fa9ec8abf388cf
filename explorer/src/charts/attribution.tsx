import styles from './charts.module.css';

/** Names the library that draws the charts, as its licence asks for. */
export function Attribution() {
  return (
    <p className={styles.attribution}>
      <span>Charts by</span>{' '}
      <a href="https://www.tradingview.com/" translate="no" target="_blank" rel="noreferrer">
        TradingView
      </a>
    </p>
  );
}
