import type { SubscribePayload } from 'graphql-ws';

/** The payload of a subscription that continues where it was when the connection broke. */
type ResumingPayload = {
  /** graphql-ws writes it again for each connection. */
  readonly payload: SubscribePayload;
  /** Takes the data of each update. */
  observe(data: unknown): void;
};

/**
 * Creates the payload of a subscription. If its document has the variable `$afterHeight`, each later connection receives
 * the heights after the last one that arrived.
 */
export function resumingPayload(query: string, variables: Record<string, unknown> | undefined): ResumingPayload {
  const canResume = /\$afterHeight\b/.test(query);
  let afterHeight: number | undefined;
  return {
    payload: {
      query,
      get variables() {
        return afterHeight === undefined ? variables : { ...variables, afterHeight };
      },
    },
    observe(data) {
      if (!canResume || typeof data !== 'object' || data === null) return;
      const { beaconHeight } = Object.values(data)[0] ?? {};
      if (typeof beaconHeight === 'number') afterHeight = beaconHeight;
    },
  };
}
