import type { CombinedError } from '@urql/core';

/** An error of the gateway, or that it cannot be reached. */
export type GatewayError = {
  /** A code of the gateway, `REFUSED` if something else responded with status 403, or `DISCONNECTED` if there was no answer. */
  readonly code: string;
  readonly message: string;
  /** The field that failed; empty for the operation as a whole. */
  readonly path: readonly (string | number)[];
  /** Which upstream failed, for the codes that begin with `UPSTREAM_`. */
  readonly upstream?: 'NODE' | 'MARKET_DATA' | undefined;
  /** How long to wait, for `RATE_LIMITED`, and for `HEIGHT_NOT_AVAILABLE` if the gateway is expected to reach the height. */
  readonly retryAfterMs?: number | undefined;
  /** Why the exchange would refuse a trade, for `TRADE_REFUSED`. */
  readonly reason?: string | undefined;
};

/** An error in a response, as the specification of GraphQL defines it. */
type ResponseError = {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
};

/** The errors of a result of urql. */
export function readErrors(error: CombinedError | undefined): readonly GatewayError[] {
  if (error === undefined) return [];
  if (error.graphQLErrors.length === 0) {
    const isRefused = (error.response as Response | undefined)?.status === 403;
    return [{ code: isRefused ? 'REFUSED' : 'DISCONNECTED', message: error.message, path: [] }];
  }

  return readResponseErrors(error.graphQLErrors);
}

/** The errors of a response. */
export function readResponseErrors(errors: readonly ResponseError[] = []): readonly GatewayError[] {
  return errors.map(({ message, path, extensions = {} }) => {
    const { code, upstream, retryAfterMs, reason } = extensions;
    return {
      code: typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR',
      message,
      path: path ?? [],
      upstream: upstream === 'NODE' || upstream === 'MARKET_DATA' ? upstream : undefined,
      retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
      ...(typeof reason === 'string' && { reason }),
    };
  });
}

/** Whether the same operation can succeed later. */
export function isRetryable({ code, retryAfterMs }: GatewayError): boolean {
  if (code === 'UPSTREAM_NOT_CONFIGURED') return false;
  if (code === 'HEIGHT_NOT_AVAILABLE') return retryAfterMs !== undefined;
  return code.startsWith('UPSTREAM_') || RETRYABLE.has(code);
}

const RETRYABLE = new Set(['DISCONNECTED', 'REFUSED', 'RATE_LIMITED', 'HISTORY_UNAVAILABLE', 'INTERNAL_SERVER_ERROR']);

/** How long to wait before the same operation is sent again, in milliseconds: the longest wait of its errors. 0 if they have none. */
export function waitOf(errors: readonly GatewayError[]): number {
  return Math.max(0, ...errors.map(({ retryAfterMs = 0 }) => retryAfterMs));
}
