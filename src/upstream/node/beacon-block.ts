import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { type Instant, toInstant } from '../../domain/instant.ts';
import type { BlockTrades } from '../../domain/trade.ts';
import { createDocumentReader } from '../json.ts';
import { createFilteredReader } from '../json-filter.ts';
import type { ResponseReader } from '../response-body.ts';
import { readArray, readInteger, readObject, readString } from '../wire.ts';
import type { ResultOf } from './envelope.ts';
import { readBlockTrades } from './instructions.ts';

/** The newest block of the beacon chain as the beacon state describes it. Nodes may leave the hashes out. */
export type BeaconTip = {
  readonly height: BeaconHeight;
  readonly hash: string | undefined;
  /** The hash of the block below it. */
  readonly previousHash: string | undefined;
};

/** A block of the beacon chain. */
export type BeaconBlock = {
  readonly height: BeaconHeight;
  readonly hash: string;
  readonly time: Instant | undefined;
  /** Reads the trades that it records. */
  readonly trades: () => Promise<BlockTrades>;
};

/** A beacon state has some 100 KB. */
const MAX_TIP_BYTES = 8 * 2 ** 20;

/** A block has some 12 KB, and about 1 KB for each trade. */
const MAX_BLOCK_BYTES = 8 * 2 ** 20;

/**
 * Reads a response of `retrievebeaconblockbyheight`: a list with one block. Most of it are instructions, which are JSON in strings: the
 * exact numbers of `parseJson` are needed only in those.
 *
 * @param received gets the number of bytes of each part that arrives
 */
export function createBlockReader(
  resultOf: (document: unknown) => unknown,
  received?: (bytes: number) => void,
): ResponseReader<BeaconBlock> {
  const { write, end } = createDocumentReader(MAX_BLOCK_BYTES, read, JSON.parse);

  function read(document: unknown): BeaconBlock {
    const [first] = readArray(resultOf(document), '$.Result');
    const block = readObject(first, '$.Result[0]');
    const { Time: time, Instructions: listed } = block;
    // The node writes null for an empty list. Anything else in its place says nothing about the trades.
    const instructions = listed === null ? [] : readArray(listed, '$.Result[0].Instructions');
    return {
      height: readInteger(block['Height'], '$.Result[0].Height'),
      hash: readString(block['Hash'], '$.Result[0].Hash'),
      time: Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined,
      trades: () => readBlockTrades(instructions),
    };
  }

  return {
    write(chunk) {
      received?.(chunk.length);
      write(chunk);
    },
    end,
  };
}

/** Of the large response of `getbeaconbeststatedetail`, only three members are kept. */
export function createBeaconTipReader(resultOf: ResultOf): ResponseReader<BeaconTip> {
  const keep = ['BeaconHeight', 'BestBlockHash', 'PreviousBestBlockHash'];
  return createFilteredReader({ within: 'Result', keep, maxBytes: MAX_TIP_BYTES }, (document) => {
    const result = resultOf(document);
    return {
      height: readInteger(result['BeaconHeight'], '$.Result.BeaconHeight'),
      hash: toText(result['BestBlockHash']),
      previousHash: toText(result['PreviousBestBlockHash']),
    };
  });
}

/** A text that the interface does not promise; `undefined` for anything else. */
function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
