import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toPoolDirectory } from '../../../src/domain/exchange.ts';
import { createPreviousPools } from '../../../src/upstream/node/previous-pools.ts';
import { createStateReader } from '../../../src/upstream/node/state-reader.ts';
import { anySpaces, outcomeOf, spaceOut } from '../chunks.ts';
import { readState } from './states.ts';

const PRV = '0000000000000000000000000000000000000000000000000000000000000004';
const BTC = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
const ID = `${PRV}-${BTC}`;
const DIRECTORY = toPoolDirectory([ID]);

type Reserves = { readonly reserve1: bigint; readonly reserve2: bigint };

/** A pool as nodes write it, without the beginning of its key. */
function write({ reserve1, reserve2 }: Reserves): string {
  return `${ID}":{"Token1IDStr":"${PRV}","Token1PoolValue":${reserve1},"Token2IDStr":"${BTC}","Token2PoolValue":${reserve2}}`;
}

const pool = { reserve1: 1_906_314_094_145_580n, reserve2: 2n ** 64n - 1n };
const other = { reserve1: 7n, reserve2: 0n };

/** What has stored a pool with this text. */
function storeOf(text: string, reserves: Reserves = pool) {
  const previous = createPreviousPools();
  previous.store(DIRECTORY, 0, Buffer.from(text), reserves);
  return previous;
}

test('a pool with the bytes of the previous response is found', () => {
  const text = Buffer.from(write(pool));
  expect(createPreviousPools().find(DIRECTORY, 0, text)).toBeUndefined();
  expect(storeOf(write(pool)).find(DIRECTORY, 0, text)).toEqual(pool);
});

test.each<[string, string, typeof DIRECTORY]>([
  ['if its reserves differ', write(other), DIRECTORY],
  ['if it is incomplete', write(pool).slice(0, -1), DIRECTORY],
  ['if it is longer', `${write(pool)} `, DIRECTORY],
  ['if it is at the same place of another directory', write(pool), toPoolDirectory([`${BTC}-${PRV}`])],
])('it is not found %s', (_, text, directory) => {
  expect(storeOf(write(pool)).find(directory, 0, Buffer.from(text))).toBeUndefined();
});

test('it is found if it is the longest, indented as nodes do', () => {
  const longest = { reserve1: 2n ** 64n - 1n, reserve2: 2n ** 64n - 1n };
  const fields = write(longest).replace('{', '{\n        ').replaceAll(',', ',\n        ').replace('}', '\n      }');
  const text = fields.replaceAll(':', ': ');
  expect(storeOf(text, longest).find(DIRECTORY, 0, Buffer.from(text))).toEqual(longest);
});

test('it is not found if it is longer than nodes write it', () => {
  const text = spaceOut(write(pool), ' '.repeat(20));
  expect(storeOf(text).find(DIRECTORY, 0, Buffer.from(text))).toBeUndefined();
});

test('a response is read as without previous responses, whatever they were', () => {
  const anyReserve = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.constantFrom(0n, 10n ** 15n, 2n ** 64n));
  const anyPool = fc.record({ reserve1: anyReserve, reserve2: anyReserve });
  const texts = [pool, other].map(write);
  const change = fc.constantFrom('', '0', '1', '"', '}', ',', ' ', 'a', '\u00a0');
  const anyDamaged = fc
    .record({ text: fc.constantFrom(...texts), at: fc.nat({ max: 372 }), cut: fc.nat({ max: 2 }), change })
    .map(({ text, at, cut, change: instead }) => text.slice(0, at) + instead + text.slice(at + cut));
  const anyMember = fc.oneof(fc.constantFrom(...texts), anyPool.map(write), anyDamaged);
  fc.assert(
    fc.property(fc.array(fc.tuple(anyMember, anySpaces), { minLength: 2, maxLength: 6 }), (members) => {
      const states = createStateReader();
      for (const [n, [member, spaces]] of members.entries()) {
        const height = 835_380 + n;
        const pools = `{"pdepool-${height}-${spaceOut(member, spaces)}}`;
        const text = `{"Id":1,"Result":{"PDEPoolPairs":${pools}},"Error":null}`;
        expect(outcomeOf(() => readState(text, height, states))).toEqual(outcomeOf(() => readState(text, height)));
      }
    }),
    { numRuns: 1_000 },
  );
});
