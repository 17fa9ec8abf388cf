import type { Instant } from '../domain/instant.ts';
import { type Token, type TokenList, toTokenList } from '../domain/token.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { ServiceToken, TokenService } from '../upstream/token-service.ts';
import { createFollower, type Watcher } from './broadcast/follower.ts';

/** The token list that is served. */
export type TokenSource = ReturnType<typeof fixedTokens | typeof followTokens>;

/** The token list of a gateway without a token service. */
export function fixedTokens(tokens: Iterable<Token>) {
  const list = toTokenList(tokens);
  return { current: () => list, status: undefined, stop() {} } as const;
}

type TokenFollowerOptions = {
  readonly host: TokenService;
  /** Tokens that those of the service override. */
  readonly known: Iterable<Token>;
  /** Tokens that override those of the service. */
  readonly configured: Iterable<Token>;
  readonly pollMs: number;
  readonly timeoutMs: number;
  readonly now: () => Instant;
  readonly watcher: TokenWatcher;
  readonly tracing?: Tracing | undefined;
};

/** Is also notified when the number of skipped entries changes. */
export type TokenWatcher = Watcher & { skipped(entries: number): void };

/** After a failed read, the service is read again after at most this time. */
const AGAIN_MS = 60_000;

type Snapshot = { readonly rows: readonly ServiceToken[]; readonly list: TokenList };

/** Starts to follow a token service. Until it was read, and for tokens that it does not have, the other tokens are served. */
export function followTokens(options: TokenFollowerOptions) {
  const { host, known, configured, pollMs, timeoutMs, now, watcher, tracing } = options;
  const first = toTokenList([...known, ...configured]);
  const knownIds = new Set([...known].map(({ tokenId }) => tokenId));
  let observedAt: Instant | undefined;
  let changedAt: Instant | undefined;
  let nextAt: Instant | undefined;
  let skipped = 0;

  function intervalMs(isFailing: boolean): number {
    const pauseMs = isFailing ? Math.min(AGAIN_MS, pollMs) : pollMs;
    nextAt = now() + pauseMs;
    return pauseMs;
  }

  const follower = createFollower<Snapshot>({
    async read(previous) {
      const { rows, dropped } = await host.list(previous?.rows);
      observedAt = now();
      if (dropped !== skipped) watcher.skipped(dropped);
      skipped = dropped;
      if (rows === previous?.rows) return previous;
      const described = rows.filter(({ tokenId, decimals }) => decimals !== undefined || !knownIds.has(tokenId));
      return { rows, list: toTokenList([...known, ...best(described), ...configured]) };
    },
    intervalMs,
    upstream: 'TOKENS',
    timeoutMs,
    watcher,
    beforePublish() {
      changedAt = now();
    },
    trace: tracing && { start: () => tracing.startPoll('tokens') },
  });

  return {
    /** The same object until a token changes. */
    current: (): TokenList => follower.newest()?.list ?? first,
    /** How the list of the token service is; `undefined` if none is configured, because the list never changes then. */
    status: {
      /** When a token has changed; `undefined` before the first list. */
      changedAt: () => changedAt,
      /** When the list was last read; `undefined` before the first. */
      observedAt: () => observedAt,
      /** When it is read again; `undefined` during the first read. */
      nextAt: () => nextAt,
      isFailing: follower.isFailing,
      /** The number of entries of the last list that were skipped because they could not be read. */
      skipped: () => skipped,
    },
    stop: follower.stop,
  };
}

/** One entry for each token: a verified one if there is one, else the first. */
function best(rows: readonly ServiceToken[]): Iterable<Token> {
  const entries = new Map<string, ServiceToken>();
  for (const row of rows) {
    const before = entries.get(row.tokenId);
    if (before === undefined || (row.isVerified && !before.isVerified)) entries.set(row.tokenId, row);
  }
  return [...entries.values()].map(({ tokenId, symbol, decimals }) => ({ tokenId, symbol, decimals }));
}
