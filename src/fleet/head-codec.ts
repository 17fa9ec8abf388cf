import { parseBeaconHeight } from '../domain/beacon-height.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Head } from '../live/chain/head.ts';
import { readObject, readString, readTimestamp, ShapeError, type WireObject } from '../upstream/wire.ts';
import { createByteReader, text } from './byte-reader.ts';
import { chainInfoToJson, readChainInfo } from './chain-codec.ts';
import { createExchangeReader, createExchangeWriter } from './exchange-codec.ts';
import { type Message, orRefuse } from './messages.ts';

/** A head as another replica has published it. */
export type SharedHead = Omit<Head, 'previousHeight' | 'source' | 'observedAt' | 'filledIn'> & {
  /** The name of the node that it was read from. */
  readonly node: string;
  /** How long ago it had been read when it was published, in milliseconds. */
  readonly ageMs: number;
};

/** A message of a head, or of a state that the leader has filled in, without the chain. */
export type HeadPayload = Omit<Message, 'chain'> & { readonly isKeyframe: boolean };

/** Writes the heads of one leader. */
type HeadWriter = {
  head(head: Head, ageMs: number): HeadPayload;
  /** The state at a height that no replica had followed. */
  filled(state: ExchangeState): HeadPayload;
  /** The next message is a keyframe. */
  restart(): void;
};

/** Reads what a {@link HeadWriter} has written, in order. */
type HeadReader = {
  /** @throws RefusedMessageError */
  head(payload: Buffer): SharedHead;
  /** @throws RefusedMessageError */
  filled(payload: Buffer): ExchangeState;
};

/** Number of messages from one keyframe to the next. */
const MESSAGES_PER_KEYFRAME = 32;

/** Creates a writer, whose first message is a keyframe. */
export function createHeadWriter(): HeadWriter {
  const states = createExchangeWriter();
  let sinceKeyframe = MESSAGES_PER_KEYFRAME;

  function write(kind: Message['kind'], facts: object, state: ExchangeState): HeadPayload {
    const { bytes, isKeyframe } = states.write(state, sinceKeyframe >= MESSAGES_PER_KEYFRAME);
    sinceKeyframe = isKeyframe ? 1 : sinceKeyframe + 1;
    return { kind, payload: Buffer.concat([text(JSON.stringify(facts)), bytes]), isKeyframe };
  }

  return {
    head({ beaconHeight: height, hash, previousHash, time, chainInfo, exchange, source, traceparent }, ageMs) {
      const chain = chainInfoToJson(chainInfo);
      const stateTime = exchange.time;
      const facts = { height, hash, previousHash, time, stateTime, node: source.name, ageMs, traceparent, chain };
      return write('head', facts, exchange);
    },
    filled: (state) => write('filled', { height: state.beaconHeight, stateTime: state.time }, state),
    restart() {
      sinceKeyframe = MESSAGES_PER_KEYFRAME;
    },
  };
}

/** Creates a reader, which needs a keyframe first. */
export function createHeadReader(): HeadReader {
  const states = createExchangeReader();

  function read(payload: Buffer): { readonly facts: WireObject; readonly exchange: ExchangeState } {
    const reader = createByteReader(payload);
    const facts = readObject(JSON.parse(reader.text()), '$');
    const beaconHeight = parseBeaconHeight(facts['height']);
    if (beaconHeight === undefined) throw new ShapeError('a height', '$.height');
    const time = facts['stateTime'] === undefined ? undefined : readTimestamp(facts['stateTime'], '$.stateTime');
    return { facts, exchange: states.read(reader.rest(), { beaconHeight, time }) };
  }

  return {
    head: (payload) =>
      orRefuse(() => {
        const { facts, exchange } = read(payload);
        return {
          beaconHeight: exchange.beaconHeight,
          hash: readString(facts['hash'], '$.hash'),
          previousHash: optionalText(facts['previousHash'], '$.previousHash'),
          time: readTimestamp(facts['time'], '$.time'),
          chainInfo: readChainInfo(facts['chain']),
          exchange,
          node: readString(facts['node'], '$.node'),
          ageMs: readTimestamp(facts['ageMs'], '$.ageMs'),
          traceparent: optionalText(facts['traceparent'], '$.traceparent'),
        };
      }),
    filled: (payload) => orRefuse(() => read(payload).exchange),
  };
}

function optionalText(value: unknown, path: string): string | undefined {
  return value === undefined ? undefined : readString(value, path);
}
