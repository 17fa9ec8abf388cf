import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/upstream/json.ts';
import { createRowsReader, type Rows } from '../../../src/upstream/rows.ts';
import { anySizes, anySpaces, outcomeOf, outcomeOfChunks, spaceOut } from '../chunks.ts';
import { readFixture } from '../fixture.ts';
import { anyMutations, mutateAll, print } from '../mutations.ts';
import { createPairsReader, createTickersReader, readPairs, readTickers } from './whole-list.ts';

const FIXTURE = readFixture('market-data/tickers').trim();
const RECORDED = parseJson(FIXTURE) as { readonly tickers: readonly object[] };
const row = print(RECORDED.tickers[0]);

/** What comes of an answer that is parsed as a whole. */
function outcomeOfWhole(text: string): unknown {
  return outcomeOf(() => readTickers(parseJson(text)));
}

function readRows(text: string, previous?: Rows<never>['rows']): Rows<never> {
  const reader = createTickersReader(previous);
  reader.write(Buffer.from(text));
  return reader.end() as Rows<never>;
}

test('of rows with the same key, the first counts; rows with an empty one have none', () => {
  const read = (value: unknown) => value as { readonly id: string; readonly n: number };
  const reader = createRowsReader({ name: 'rows', read, keyOf: ({ id }) => id });
  const ids = ['a', '', 'b', 'a', '', 'a'];
  reader.write(Buffer.from(JSON.stringify({ rows: ids.map((id, n) => ({ id, n })) })));
  expect(reader.end()).toEqual({ rows: [0, 1, 2, 4].map((n) => ({ id: ids[n], n })), dropped: 2 });
});

test('a row of more than 64 KB costs only itself', () => {
  const reports: string[] = [];
  const long = { id: 'long', text: 'ä'.repeat(35_000), list: [{}] };
  const room = 65_536 - JSON.stringify({ id: 'c', text: '' }).length;
  const [fits, tooLong] = [room, room + 1].map((length) => ({ id: 'c', text: 'x'.repeat(length) }));
  const rows = [{ id: 'a' }, long, { id: 'b' }, long, fits, tooLong].map((row) => JSON.stringify(row)).join();
  for (const size of [1, 3, 65_536]) {
    const read = (value: unknown) => ({ id: (value as { readonly id: string }).id });
    const reader = createRowsReader({ name: 'rows', read, report: (problem) => reports.push(problem) });
    const text = `{"message":"OK","rows":[${rows},${' '.repeat(70_000)}{"id":"d"},{"id":"e"}]}`;
    const kept = ['a', 'b', 'c', 'e'].map((id) => ({ id }));
    expect(outcomeOfChunks(text, [size], reader)).toEqual({ value: { rows: kept, dropped: 4 } });
  }
  expect(reports).toEqual(Array.from({ length: 3 }, () => 'expected a row of at most 64 KB at $.rows[…]'));
});

describe('does it matter that a list is read row by row', () => {
  test('no: whatever is changed in it, and however it is cut, it says what it says as a whole', () => {
    const seen = new Set<string>();
    const recorded = readRows(FIXTURE).rows;
    fc.assert(
      fc.property(anyMutations, anySpaces, anySizes, (changes, space, sizes) => {
        const text = Buffer.from(spaceOut(print(mutateAll(RECORDED, changes)) ?? '', space)).toString();
        const outcome = outcomeOfWhole(text);
        fc.pre(outcome !== 'it is not JSON');
        expect(outcomeOfChunks(text, sizes, createTickersReader())).toEqual(outcome);
        expect(outcomeOfChunks(text, sizes, createTickersReader(recorded))).toEqual(outcome);
        seen.add(Object.keys(outcome ?? {}).join());
      }),
      { numRuns: 300 },
    );
    expect([...seen].sort()).toEqual(['error', 'value']);
  });

  test('no: wherever it breaks off', () => {
    for (let length = 0; length < FIXTURE.length; length++)
      expect(outcomeOfChunks(FIXTURE.slice(0, length), [7, 100], createTickersReader())).toBe('it is not JSON');
  });

  test.each<[string, string]>([
    ['no rows', '{"tickers":[ \n ]}'],
    ['one row', `{"tickers":[${row}]}`],
    ['rows of every kind', `{"message":"OK","tickers":[null,${row},5,"a",[${row}],{},{"a":[1,{}]}],"more":[[]]}`],
    ['a row twice', `{"tickers":[${row},${row}]}`],
    ['rows that are null', '{"tickers":null,"message":"no data"}'],
    ['rows that are an object', `{"tickers":{"a":${row}}}`],
    ['rows that are a text', '{"tickers":"none"}'],
    ['rows twice, of which the last count', `{"tickers":[${row}],"tickers":[]}`],
    ['rows twice, of which the last are none', `{"tickers":[${row}],"tickers":5}`],
    ['rows further inside', `{"data":{"tickers":[${row}]}}`],
    ['rows without anything around them', `[${row}]`],
    ['a comma after the last row', `{"tickers":[${row},]}`],
    ['no comma between two rows', `{"tickers":[${row} ${row}]}`],
    ['nothing but a comma', '{"tickers":[,]}'],
    ['a name written with escapes', `{"\\u0074ickers":[${row}]}`],
    ['a number beyond a double', '{"tickers":[{"last_price":123456789012345678901234567890}]}'],
    ['something behind its end', `{"tickers":[${row}]} {}`],
    ['a text', '"tickers"'],
    ['nothing', ''],
  ])('no: %s', (_, text) => {
    const outcome = outcomeOfWhole(text);
    for (const sizes of [[1], [3, 1], [65_536]])
      expect(outcomeOfChunks(text, sizes, createTickersReader())).toEqual(outcome);
  });

  test('no: pairs are read likewise', () => {
    const text = readFixture('market-data/pairs');
    expect(outcomeOfChunks(text, [5, 300], createPairsReader())).toEqual({ value: readPairs(parseJson(text)) });
  });
});

describe('what is the same as in the reading before', () => {
  const other = JSON.stringify({ ...RECORDED.tickers[0], pool_id: 'another' });
  const before = readRows(`{"tickers":[${row},${other}]}`).rows;

  test('the list, where all of its rows say the same, however they are written', () => {
    const again = readRows(spaceOut(`{"message":"OK","tickers":[${row},${other}]}`, ' '), before);
    expect(again.rows).toBe(before);
  });

  test('a row that says the same, in a list that does not', () => {
    const changed = row.replace(/"last_price":[^,]+/, '"last_price":5');
    const { rows } = readRows(`{"tickers":[${changed},${other}]}`, before);
    expect(rows[0]).toMatchObject({ lastPrice: 5 });
    expect(rows[1]).toBe(before[1]);
  });

  test.each([
    ['a row less', `{"tickers":[${row}]}`],
    ['a row more', `{"tickers":[${row},${other},${row}]}`],
    ['another order', `{"tickers":[${other},${row}]}`],
    ['a row that cannot be read any more', `{"tickers":[${row},{}]}`],
  ])('not a list with %s', (_, text) => {
    const { rows } = readRows(text, before);
    expect(rows).not.toBe(before);
    expect(rows).toEqual(readTickers(parseJson(text)).rows);
  });
});
