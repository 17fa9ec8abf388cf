import { parseBeaconHeight } from '../domain/beacon-height.ts';
import {
  ERROR_CODES,
  SharedUpstreamError,
  type Upstream,
  type UpstreamError,
  type UpstreamErrorCode,
} from '../errors.ts';
import type { ShownBlock } from '../live/chain/shown-blocks.ts';
import type { UpstreamHealth } from '../upstream/health.ts';
import { readArray, readObject, readString, readTimestamp, ShapeError } from '../upstream/wire.ts';
import { orRefuse } from './messages.ts';

/** What the leader knows of the upstreams. Times are ages in milliseconds: no clock of another machine counts. */
export type UpstreamStatus = {
  /** The lease of the leader. */
  readonly lease: string;
  /** How long it has led. */
  readonly leadingMs: number;
  /** Whether it has given the lease back. */
  readonly isLeaving: boolean;
  /** Why each source cannot be read now. */
  readonly failures: Readonly<Record<'head' | 'pairs' | 'tickers', UpstreamError | undefined>>;
  /** The highest tip of all nodes; `undefined` if none is known. */
  readonly tip: number | undefined;
  /** The tip of each node by its name; `undefined` if the node did not respond. */
  readonly nodes: ReadonlyMap<string, ShownBlock | undefined>;
  /** The health of each upstream, with ages instead of times. */
  readonly upstreams: readonly UpstreamHealth[];
};

/** A message of an error that is longer is cut. */
const MAX_MESSAGE_LENGTH = 500;

const MAX_NODES = 1_000;

/** Writes the status. */
export function writeStatus({ failures, nodes, ...status }: UpstreamStatus): Buffer {
  const { head, pairs, tickers } = failures;
  const errors = { head: errorToJson(head), pairs: errorToJson(pairs), tickers: errorToJson(tickers) };
  const tips = [...nodes].map(([name, tip]) => [name, tip && [tip.height, tip.hash, tip.time]]);
  return Buffer.from(JSON.stringify({ ...status, failures: errors, nodes: tips }));
}

function errorToJson(error: UpstreamError | undefined): unknown {
  if (error === undefined) return undefined;
  const { upstream, code, message, retryable, retryAfterMs } = error;
  return { upstream, code, message, retryable, retryAfterMs };
}

/** Reads the status. @throws RefusedMessageError */
export function readStatus(payload: Buffer): UpstreamStatus {
  return orRefuse(() => {
    const status = readObject(JSON.parse(payload.toString()), '$');
    const errors = readObject(status['failures'], '$.failures');
    const nodes = readArray(status['nodes'], '$.nodes').slice(0, MAX_NODES).map(readNode);
    return {
      lease: readString(status['lease'], '$.lease'),
      leadingMs: readTimestamp(status['leadingMs'], '$.leadingMs'),
      isLeaving: status['isLeaving'] === true,
      failures: {
        head: readError(errors['head']),
        pairs: readError(errors['pairs']),
        tickers: readError(errors['tickers']),
      },
      tip: parseBeaconHeight(status['tip']),
      nodes: new Map(nodes),
      upstreams: readArray(status['upstreams'], '$.upstreams').map(readHealth),
    };
  });
}

function readNode(value: unknown): [string, ShownBlock | undefined] {
  const [name, tip] = readArray(value, '$.nodes[…]');
  if (tip == null) return [readString(name, '$.nodes[…][0]'), undefined];
  const [height, hash, time] = readArray(tip, '$.nodes[…][1]');
  const beaconHeight = parseBeaconHeight(height);
  if (beaconHeight === undefined) throw new ShapeError('a height', '$.nodes[…][1][0]');
  const block = { height: beaconHeight, hash: readString(hash, '$.nodes'), time: readTimestamp(time, '$.nodes') };
  return [readString(name, '$.nodes[…][0]'), block];
}

function readError(value: unknown): UpstreamError | undefined {
  if (value === undefined) return undefined;
  const { upstream, code, message, retryable, retryAfterMs } = readObject(value, '$.failures');
  return new SharedUpstreamError(readUpstream(upstream), {
    code: readCode(code),
    message: readString(message, '$.failures').slice(0, MAX_MESSAGE_LENGTH),
    retryable: retryable === true,
    retryAfterMs: retryAfterMs === undefined ? undefined : readTimestamp(retryAfterMs, '$.failures'),
  });
}

function readHealth(value: unknown): UpstreamHealth {
  const { upstream, healthy, lastSuccessAt, lastErrorAt, lastErrorCode } = readObject(value, '$.upstreams');
  const optional = (age: unknown) => (age === undefined ? undefined : readTimestamp(age, '$.upstreams'));
  return {
    upstream: readUpstream(upstream),
    healthy: healthy === true,
    lastSuccessAt: optional(lastSuccessAt),
    lastErrorAt: optional(lastErrorAt),
    lastErrorCode: lastErrorCode === undefined ? undefined : readCode(lastErrorCode),
  };
}

function readUpstream(value: unknown): Upstream {
  if (value !== 'NODE' && value !== 'MARKET_DATA') throw new ShapeError('an upstream', '$');
  return value;
}

function readCode(value: unknown): UpstreamErrorCode {
  const code = readString(value, '$');
  if (!code.startsWith('UPSTREAM_') || !Object.hasOwn(ERROR_CODES, code)) throw new ShapeError('a code', '$');
  return code as UpstreamErrorCode;
}
