import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toPoolDirectory } from '../../../src/domain/exchange.ts';
import { createPoolBytesReader, createPreviousPools, type PoolInBytes } from '../../../src/upstream/node/pool-bytes.ts';
import { anySpaces, spaceOut } from '../chunks.ts';

const HEIGHT = 835_380;
const PRV = '0000000000000000000000000000000000000000000000000000000000000004';
const BTC = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
const ID = `${PRV}-${BTC}`;
const DIRECTORY = toPoolDirectory([ID]);

type Reserves = Pick<PoolInBytes, 'reserve1' | 'reserve2'>;

/** A pool as nodes write it. */
function write({ reserve1, reserve2 }: Reserves): string {
  return `"pdepool-${HEIGHT}-${ID}":{"Token1IDStr":"${PRV}","Token1PoolValue":${reserve1},"Token2IDStr":"${BTC}","Token2PoolValue":${reserve2}}`;
}

function readerOf(beaconHeight: number, previous = createPreviousPools(), isStored = true) {
  return createPoolBytesReader({ beaconHeight, directory: DIRECTORY, previous, isStored });
}

/** @param previous the pools of the response before */
function read(member: string, previous = createPreviousPools()): Reserves | undefined {
  // What stands around it makes no difference.
  const [before, behind] = ['{"other":{},', ',"next":'];
  const found = readerOf(HEIGHT, previous).read(Buffer.from(before + member + behind), before.length, 0);
  // With text behind its end it is no member.
  if (found === undefined || member.slice(found.end - before.length).trim() !== '') return undefined;
  return { reserve1: found.reserve1, reserve2: found.reserve2 };
}

const anyReserve = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 10n ** 16n), fc.constantFrom(0n, 10n ** 15n));
const anyPool = fc.record({ reserve1: anyReserve, reserve2: anyReserve });
const pool = { reserve1: 1_906_314_094_145_580n, reserve2: 2n ** 64n - 1n };

describe('a pool that is read from its bytes', () => {
  test('is the expected one, with any reserves and white space', () => {
    fc.assert(
      fc.property(anyPool, anySpaces, (written, spaces) => {
        expect(read(spaceOut(write(written), spaces))).toEqual(written);
      }),
    );
  });

  test('is never read differently than by a parser', () => {
    const text = write(pool);
    const instead = fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.constantFrom('0', '00', '-1', '.5', 'e3', '\u00a0', '\\u0030'),
    );
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), fc.nat({ max: 3 }), instead, (at, length, change) => {
        const damaged = text.slice(0, at) + change + text.slice(at + length);
        const reserves = read(damaged);
        if (reserves !== undefined) expect(write(reserves)).toBe(damaged.replaceAll(/[\t\n\r ]/g, ''));
      }),
      { numRuns: 1_500 },
    );
  });

  test.each([
    ['one that is not expected', write(pool).replaceAll(BTC, PRV)],
    ['one of another height', write(pool).replace(`${HEIGHT}`, `${HEIGHT + 1}`)],
    ['one with other tokens than in its key', write(pool).replace(`"${BTC}"`, `"${PRV}"`)],
    ['one in capitals', write(pool).replaceAll(BTC, BTC.toUpperCase())],
    ['one with another field', write(pool).replace('}', ',"Fee":1}')],
    ['one with its fields in another order', write(pool).replace('Token1PoolValue', 'Token2PoolValue')],
    ['reserves above 64 bits', write({ ...pool, reserve2: 2n ** 64n })],
    ['reserves of 21 digits', write({ ...pool, reserve1: 10n ** 20n })],
    ['a reserve that begins with 0', write(pool).replace(':1906', ':01906')],
    ['a reserve below 0', write(pool).replace(':1906', ':-1906')],
    ['a reserve that is missing', write(pool).replace(/:1906\d+/, ':')],
    ['an incomplete one', write(pool).slice(0, -1)],
    ['nothing', ''],
  ])('is not %s, which is for the parser', (_, member) => {
    expect(read(member)).toBeUndefined();
  });
});

describe('a pool with the bytes of the previous response', () => {
  const other = { reserve1: 7n, reserve2: 0n };

  test('is read as without a previous response, whatever was read before', () => {
    const texts = [pool, other].map(write);
    const change = fc.constantFrom('', '0', '1', '"', '}', ',', ' ', 'a', '\u00a0');
    const anyDamaged = fc
      .record({ text: fc.constantFrom(...texts), at: fc.nat({ max: 372 }), cut: fc.nat({ max: 2 }), change })
      .map(({ text, at, cut, change: instead }) => text.slice(0, at) + instead + text.slice(at + cut));
    const anyMember = fc.oneof(fc.constantFrom(...texts), anyPool.map(write), anyDamaged);
    fc.assert(
      fc.property(fc.array(fc.tuple(anyMember, anySpaces), { minLength: 2, maxLength: 6 }), (members) => {
        const previous = createPreviousPools();
        for (const [member, spaces] of members) {
          const text = spaceOut(member, spaces);
          expect(read(text, previous)).toEqual(read(text));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('is found at the next height', () => {
    const previous = createPreviousPools();
    const text = write(pool);
    const start = text.indexOf(ID);
    expect(previous.find(DIRECTORY, 0, Buffer.from(text), start)).toBeUndefined();
    expect(read(text, previous)).toEqual(pool);
    expect(previous.find(DIRECTORY, 0, Buffer.from(`${text},`), start)).toEqual({ end: text.length, ...pool });

    const next = text.replace(`${HEIGHT}`, `${HEIGHT + 1}`);
    expect(readerOf(HEIGHT + 1, previous).read(Buffer.from(next), 0, 0)).toEqual({ end: next.length, ...pool });
  });

  test.each<[string, string, typeof DIRECTORY]>([
    ['if its reserves differ', write(other), DIRECTORY],
    ['if it is incomplete', write(pool).slice(0, -1), DIRECTORY],
    ['if it is at the same place of another directory', write(pool), toPoolDirectory([`${BTC}-${PRV}`])],
  ])('is not found %s', (_, text, directory) => {
    const previous = createPreviousPools();
    read(write(pool), previous);
    expect(previous.find(directory, 0, Buffer.from(text), text.indexOf(ID))).toBeUndefined();
  });

  test('is not found if the pools of that response are not stored', () => {
    const previous = createPreviousPools();
    const text = write(pool);
    expect(readerOf(HEIGHT, previous, false).read(Buffer.from(text), 0, 0)).toEqual({ end: text.length, ...pool });
    expect(previous.find(DIRECTORY, 0, Buffer.from(text), text.indexOf(ID))).toBeUndefined();
  });

  test('is found if it is the longest, indented as nodes do', () => {
    const previous = createPreviousPools();
    const longest = { reserve1: 2n ** 64n - 1n, reserve2: 2n ** 64n - 1n };
    const fields = write(longest).replace('{', '{\n        ').replaceAll(',', ',\n        ').replace('}', '\n      }');
    const text = fields.replaceAll(':', ': ');
    expect(read(text, previous)).toEqual(longest);
    expect(previous.find(DIRECTORY, 0, Buffer.from(text), text.indexOf(ID))).toEqual({ end: text.length, ...longest });
  });

  test('is not found if it is longer than nodes write it, and its digits are read', () => {
    const previous = createPreviousPools();
    const text = spaceOut(write(pool), '    ');
    expect(read(text, previous)).toEqual(pool);
    expect(previous.find(DIRECTORY, 0, Buffer.from(text), text.indexOf(ID))).toBeUndefined();
    expect(read(text, previous)).toEqual(pool);
  });
});
