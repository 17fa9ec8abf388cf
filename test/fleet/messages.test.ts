import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BestBlock, ChainInfo } from '../../src/domain/chain.ts';
import type { ExchangeState } from '../../src/domain/exchange.ts';
import type { Ticker } from '../../src/domain/market.ts';
import { RefusedMessageError } from '../../src/fleet/byte-reader.ts';
import { chainInfoToJson, readChainInfo } from '../../src/fleet/chain-codec.ts';
import { createExchangeReader, createExchangeWriter } from '../../src/fleet/exchange-codec.ts';
import { createHeadReader, createHeadWriter } from '../../src/fleet/head-codec.ts';
import { createListReader, createListWriter, TICKER_ROWS } from '../../src/fleet/list-codec.ts';
import { MESSAGE_KINDS, type MessageKind, readMessage, writeMessage } from '../../src/fleet/messages.ts';
import { readStatus } from '../../src/fleet/upstream-status.ts';
import type { Head } from '../../src/live/chain/head.ts';
import type { Node } from '../../src/live/chain/node.ts';
import { readValidationData } from '../../src/upstream/node/chain-info.ts';
import { anyPools, exchangeStateOf } from '../domain/pools.ts';

const anyBytes = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
const anyTime = fc.integer({ min: 0, max: 8.64e15 });
const anyHeight = fc.integer({ min: 1, max: 2 ** 50 });
const anyUint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const anyText = fc.string({ unit: 'binary' }).map((text) => text.toWellFormed());

/** What a read of damaged bytes threw; `undefined` if it returned a value. */
async function refusalOf(read: () => unknown): Promise<unknown> {
  try {
    await read();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Damaged bytes are refused, or are another value. They throw nothing else. */
async function expectNoOtherError(read: () => unknown): Promise<void> {
  const error = await refusalOf(read);
  if (error !== undefined) expect(error).toBeInstanceOf(RefusedMessageError);
}

describe('the envelope of a message', () => {
  const anyKind = fc.constantFrom(...(Object.keys(MESSAGE_KINDS) as MessageKind[]));
  const anyMessage = fc.record({ kind: anyKind, chain: anyText, payload: anyBytes });

  test('is read as it was written, by a gateway of that chain or of none yet', () => {
    fc.assert(
      fc.property(anyMessage, fc.boolean(), (message, knowsChain) => {
        expect(readMessage(writeMessage(message), knowsChain ? message.chain : undefined)).toEqual(message);
      }),
    );
  });

  test('is refused with any bit changed, and with bytes missing or added', () => {
    fc.assert(
      fc.property(anyMessage, fc.nat(), fc.nat(), anyBytes, (message, place, bit, added) => {
        const written = writeMessage(message);
        const changed = Buffer.from(written);
        const at = place % written.length;
        changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
        expect(() => readMessage(changed, undefined)).toThrow(RefusedMessageError);
        expect(() => readMessage(written.subarray(0, at), undefined)).toThrow(RefusedMessageError);
        if (added.length > 0)
          expect(() => readMessage(Buffer.concat([written, added]), undefined)).toThrow(RefusedMessageError);
      }),
    );
  });

  test('is refused if it is of another chain', () => {
    fc.assert(
      fc.property(anyMessage, anyText, (message, chain) => {
        fc.pre(message.chain !== '' && message.chain !== chain);
        expect(() => readMessage(writeMessage(message), chain)).toThrow(expect.objectContaining({ reason: 'chain' }));
      }),
    );
  });
});

/** States of one exchange, one after another: some with other pools, most with other reserves of a few. */
const anyStates = fc
  .array(
    fc.record({
      pools: fc.option(anyPools, { freq: 4 }),
      changes: fc.array(fc.tuple(fc.nat(), anyUint64), { maxLength: 4 }),
      time: fc.option(anyTime, { nil: undefined }),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((steps) => {
    const states: ExchangeState[] = [];
    for (const [index, { pools, changes, time }] of steps.entries()) {
      const before = states.at(-1);
      const height = 1_000 + index;
      const { directory, reserves } =
        pools === null && before !== undefined ? before : exchangeStateOf(height, pools ?? []);
      const changed = reserves.slice();
      for (const [place, reserve] of changes) if (changed.length > 0) changed[place % changed.length] = reserve;
      states.push({ beaconHeight: height, time, directory, reserves: changed });
    }
    return states;
  });

describe('states', () => {
  test('are read as they were written, one after another, with a keyframe wherever the writer wants one', () => {
    fc.assert(
      fc.property(anyStates, fc.infiniteStream(fc.boolean()), (states, keyframes) => {
        const [writer, reader] = [createExchangeWriter(), createExchangeReader()];
        for (const state of states) {
          const { bytes } = writer.write(state, keyframes.next().value);
          expect(reader.read(bytes, state)).toEqual(state);
        }
      }),
    );
  });

  test('are refused after one that is missing, until the next keyframe', () => {
    fc.assert(
      fc.property(anyStates, fc.nat(), (states, place) => {
        const missing = place % states.length;
        const [writer, reader] = [createExchangeWriter(), createExchangeReader()];
        let isBehind = false;
        for (const [index, state] of states.entries()) {
          const { bytes, isKeyframe } = writer.write(state, false);
          isBehind = index === missing || (isBehind && !isKeyframe);
          if (index === missing) continue;
          if (isBehind) expect(() => reader.read(bytes, state)).toThrow(expect.objectContaining({ reason: 'gap' }));
          else expect(reader.read(bytes, state)).toEqual(state);
        }
      }),
    );
  });

  test('with damaged bytes are refused or are another state, and leave what was read as it is', async () => {
    await fc.assert(
      fc.asyncProperty(anyStates, fc.nat(), fc.nat(255), anyBytes, async (states, place, byte, random) => {
        const [writer, reader] = [createExchangeWriter(), createExchangeReader()];
        for (const state of states) {
          const { bytes } = writer.write(state, false);
          const damaged = Buffer.from(bytes);
          damaged[place % damaged.length] = byte;
          const cut = bytes.subarray(0, place % bytes.length);
          for (const wrong of [damaged, cut, random]) {
            const copy = createExchangeReader();
            await expectNoOtherError(() => copy.read(wrong, state));
          }
          // One that ends within a change of 20 bytes is always refused. The reader then still knows the state before.
          const short = bytes.subarray(0, bytes.length - 1 - (place % 19));
          await expect(refusalOf(() => reader.read(short, state))).resolves.toBeInstanceOf(RefusedMessageError);
          expect(reader.read(bytes, state)).toEqual(state);
        }
      }),
    );
  });
});

const anyBlock: fc.Arbitrary<BestBlock> = fc
  .record({
    chainId: fc.integer({ min: -1, max: 7 }),
    height: anyHeight,
    hash: anyText,
    totalTxs: anyUint64,
    blockProducer: anyText,
    validationDataRaw: fc.oneof(
      anyText,
      fc.constant('{"ProducerBLSSig":"a","ValidatiorsIdx":[0,2],"AggSig":"b","BridgeSig":["",""]}'),
    ),
    epoch: fc.nat(),
    time: anyTime,
    remainingBlockEpoch: fc.nat(),
    epochBlock: fc.nat(),
  })
  .map((block) => ({ ...block, validationData: readValidationData(block.validationDataRaw) }));

const anyChainInfo: fc.Arbitrary<ChainInfo> = fc.record({
  chainName: anyText,
  activeShards: fc.nat(),
  beacon: anyBlock,
  shards: fc.array(anyBlock, { maxLength: 3 }),
});

describe('heads', () => {
  const anyFacts = fc.record({
    hash: anyText,
    previousHash: fc.option(anyText, { nil: undefined }),
    time: anyTime,
    chainInfo: anyChainInfo,
    node: anyText,
    ageMs: fc.nat(),
    traceparent: fc.option(anyText, { nil: undefined }),
  });

  test('are read as they were written', () => {
    fc.assert(
      fc.property(anyStates, anyFacts, (states, { node, ageMs, ...facts }) => {
        const [writer, reader] = [createHeadWriter(), createHeadReader()];
        for (const [index, exchange] of states.entries()) {
          const { beaconHeight } = exchange;
          if (index % 3 === 2) {
            expect(reader.filled(writer.filled(exchange).payload)).toEqual(exchange);
            continue;
          }
          const source = { name: node } as Node;
          const head: Head = { ...facts, beaconHeight, previousHeight: undefined, exchange, source, observedAt: 0 };
          expect(reader.head(writer.head(head, ageMs).payload)).toEqual({
            ...facts,
            node,
            ageMs,
            beaconHeight,
            exchange,
          });
        }
      }),
    );
  });

  test('that are random bytes are refused', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(() => createHeadReader().head(bytes)).toThrow(RefusedMessageError);
        expect(() => createHeadReader().filled(bytes)).toThrow(RefusedMessageError);
      }),
    );
  });

  test('with a number of transactions of a million digits are refused', () => {
    const facts = { chainName: 'c', activeShards: 0, shards: [] };
    const [beacon] = fc.sample(anyBlock, 1);
    const json = chainInfoToJson({ ...facts, beacon: beacon as BestBlock }) as unknown[][];
    (json[2] as unknown[])[3] = '9'.repeat(1_000_000);
    expect(() => readChainInfo(json)).toThrow('an integer');
  });
});

describe('lists', () => {
  const anyNumber = fc.option(
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    { nil: undefined },
  );
  const anyTokenId = fc.stringMatching(/^[0-9a-f]{64}$/);
  const anyTicker: fc.Arbitrary<Ticker> = fc.record({
    tickerId: anyText,
    baseId: anyTokenId,
    base: anyText,
    targetId: anyTokenId,
    target: anyText,
    poolId: anyText,
    lastPrice: anyNumber,
    baseVolume: anyNumber,
    targetVolume: anyNumber,
  });
  /** Lists one after another, most of which change a few rows of the one before. */
  const anyLists = fc
    .array(
      fc.record({
        all: fc.option(fc.array(anyTicker, { maxLength: 6 }), { freq: 3 }),
        changes: fc.array(fc.tuple(fc.nat(), anyTicker), { maxLength: 3 }),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((steps) => {
      const lists: (readonly Ticker[])[] = [];
      for (const { all, changes } of steps) {
        const rows = all ?? lists.at(-1) ?? [];
        const changed = [...rows];
        for (const [place, row] of changes) if (changed.length > 0) changed[place % changed.length] = row;
        lists.push(changes.length === 0 ? rows : changed);
      }
      return lists;
    });
  const facts = { dropped: 1, ageMs: 2, intervalMs: 3, beganAt: 4, endedAt: 5 };

  test('are read as they were written, and rows that have not changed are the same objects', async () => {
    await fc.assert(
      fc.asyncProperty(anyLists, async (lists) => {
        const [writer, reader] = [createListWriter(TICKER_ROWS), createListReader(TICKER_ROWS)];
        let before: { written: readonly Ticker[]; read: readonly Ticker[] } | undefined;
        for (const rows of lists) {
          const { payload, isKeyframe } = await writer.write({ rows, ...facts });
          const list = await reader.read(payload);
          expect(list).toEqual({ rows, ...facts });
          if (!isKeyframe)
            for (const [place, row] of rows.entries())
              if (row === before?.written[place]) expect(list.rows[place]).toBe(before.read[place]);
          before = { written: rows, read: list.rows };
        }
      }),
    );
  });

  test('are refused after one that is missing, until the next with all rows', async () => {
    await fc.assert(
      fc.asyncProperty(anyLists, fc.nat(), async (lists, place) => {
        const [writer, reader] = [createListWriter(TICKER_ROWS), createListReader(TICKER_ROWS)];
        const missing = place % lists.length;
        let isBehind = false;
        for (const [index, rows] of lists.entries()) {
          const { payload, isKeyframe } = await writer.write({ rows, ...facts });
          isBehind = index === missing || (isBehind && !isKeyframe);
          if (index === missing) continue;
          if (isBehind) await expect(reader.read(payload)).rejects.toMatchObject({ reason: 'gap' });
          else expect(await reader.read(payload)).toEqual({ rows, ...facts });
        }
      }),
    );
  });

  test('with damaged bytes are refused or are another list', async () => {
    await fc.assert(
      fc.asyncProperty(anyLists, fc.nat(), fc.nat(255), anyBytes, async ([rows = []], place, byte, random) => {
        const { payload } = await createListWriter(TICKER_ROWS).write({ rows, ...facts });
        const damaged = Buffer.from(payload);
        damaged[place % damaged.length] = byte;
        for (const wrong of [damaged, payload.subarray(0, place % payload.length), random])
          await expectNoOtherError(() => createListReader(TICKER_ROWS).read(wrong));
      }),
    );
  });
});

test('the status of the upstreams is read from anything that is JSON, or refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (json) => {
      await expectNoOtherError(() => readStatus(Buffer.from(json)));
    }),
  );
});
