import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/upstream/json.ts';
import { createFilteredReader } from '../../../src/upstream/json-filter.ts';
import { readResult } from '../../../src/upstream/node/envelope.ts';
import { createPoolDirectories } from '../../../src/upstream/node/pools-reader.ts';
import type { ResponseReader } from '../../../src/upstream/response-body.ts';
import { readInteger, type WireObject } from '../../../src/upstream/wire.ts';
import { anyCharacter } from '../../support/any-character.ts';
import {
  anySizes,
  anySpaces,
  outcomeOfChunks as outcomeInChunks,
  outcomeOf,
  spaceOut,
  withoutStackTraces,
} from '../chunks.ts';
import { readFixture } from '../fixture.ts';
import { anyMutations, mutateAll, print } from '../mutations.ts';
import { readState, readWholeState, stateResponse } from './states.ts';

const HEIGHT = 835_380;
const FIXTURE = readFixture('node/getpdestate').trim();
const RECORDED = parseJson(FIXTURE);

const resultOf = (document: unknown) => readResult(document, 1);

/** The outcome of a response that is parsed as a whole. */
function outcomeOfWhole(text: string): unknown {
  return outcomeOf(() => readWholeState(resultOf(parseJson(text.replace(/^\ufeff/, ''))), HEIGHT));
}

/** The outcome of a response that is read while it arrives. */
function outcomeOfChunks(
  text: string,
  sizes: readonly number[],
  reader: ResponseReader<unknown> = stateResponse(HEIGHT),
): unknown {
  return outcomeInChunks(text, sizes, reader);
}

/** The recorded response with its pools in the order of their ids, as nodes send them. */
const IN_ORDER = (() => {
  const document = parseJson(FIXTURE) as { readonly Result: WireObject };
  const pools = Object.entries(document.Result['PDEPoolPairs'] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...document, Result: { ...document.Result, PDEPoolPairs: Object.fromEntries(pools) } };
})();

/** A reader that has read the recorded response and this one before. */
function readerAfterRecorded(before = print(IN_ORDER) ?? ''): ResponseReader<unknown> {
  const states = createPoolDirectories();
  for (const text of [FIXTURE, before]) readState(text, HEIGHT, states);
  return stateResponse(HEIGHT, states);
}

describe('a response that is read while it arrives gives the same as one that is parsed as a whole', () => {
  test('whatever is changed in it, and however it is cut into chunks', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anyMutations, anySpaces, anySizes, (changes, space, sizes) => {
        const text = Buffer.from(spaceOut(print(mutateAll(RECORDED, changes)) ?? '', space)).toString();
        const outcome = outcomeOfWhole(text);
        fc.pre(outcome !== 'it is not JSON');
        expect(outcomeOfChunks(text, sizes)).toEqual(outcome);
        seen.add(Object.keys(outcome ?? {}).join());
      }),
      { numRuns: 200 },
    );
    expect([...seen].sort()).toEqual(['error', 'value']);
  });

  test('also if a similar response was read before', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anyMutations, anySpaces, anySpaces, anySizes, (changes, space, spaceBefore, sizes) => {
        const text = Buffer.from(spaceOut(print(mutateAll(IN_ORDER, changes)) ?? '', space)).toString();
        const outcome = outcomeOfWhole(text);
        fc.pre(outcome !== 'it is not JSON');
        const before = spaceOut(print(IN_ORDER) ?? '', spaceBefore);
        expect(outcomeOfChunks(text, sizes, readerAfterRecorded(before))).toEqual(outcome);
        seen.add(Object.keys(outcome ?? {}).join());
      }),
      { numRuns: 200 },
    );
    expect([...seen].sort()).toEqual(['error', 'value']);
  });

  test('wherever it is cut off', () => {
    for (let length = 0; length < FIXTURE.length; length++) {
      expect(outcomeOfChunks(FIXTURE.slice(0, length), [7, 100])).toBe('it is not JSON');
    }
  });

  const POOLS = '"PDEPoolPairs": {';
  const dropped = ['WaitingPDEContributions', 'PDEShares', 'PDETradingFees'].map((name) => {
    const from = FIXTURE.indexOf('{', FIXTURE.indexOf(`"${name}"`)) + 1;
    return { from, to: from + contentLength(FIXTURE.slice(from)) };
  });
  const recorded = outcomeOfWhole(FIXTURE);

  test('wherever its pools are damaged, also if they were read before', () => {
    const text = print(IN_ORDER) ?? '';
    const from = text.indexOf('{', text.indexOf('"PDEPoolPairs"')) + 1;
    const length = contentLength(text.slice(from));
    const instead = fc.constantFrom('', '{', '}', '[', ']', '"', ',', ':', '\\', ' ', '0', '},{', 'null');
    const outcomes = new Set<boolean>();
    fc.assert(
      fc.property(fc.nat({ max: length }), fc.nat({ max: 2 }), instead, anySizes, (place, cut, change, sizes) => {
        const damaged = text.slice(0, from + place) + change + text.slice(from + place + cut);
        const outcome = outcomeOfWhole(damaged);
        expect(outcomeOfChunks(damaged, sizes, readerAfterRecorded())).toEqual(outcome);
        outcomes.add(outcome === 'it is not JSON');
      }),
      { numRuns: 250 },
    );
    expect(outcomes.size).toBe(2);
  });

  test('wherever it is damaged, except in skipped sections, where only brackets and quotes are checked', () => {
    const place = fc.nat({ max: FIXTURE.length - 1 });
    const instead = fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', '\\"', '\u00a0', '\ufeff', '\v', 'é', '😀', '\0', ',,'),
    );
    fc.assert(
      fc.property(place, fc.nat({ max: 5 }), instead, anySizes, (at, length, text, sizes) => {
        const damaged = Buffer.from(FIXTURE.slice(0, at) + text + FIXTURE.slice(at + length)).toString();
        const outcome = outcomeOfChunks(damaged, sizes);
        if (dropped.some(({ from, to }) => at >= from && at + length <= to)) {
          expect(['it is not JSON', recorded]).toContainEqual(outcome);
        } else if (!dropped.some(({ from, to }) => at <= to && at + length >= from)) {
          // Where the brackets of a section are damaged, what is skipped begins or ends somewhere else.
          expect(outcome).toEqual(outcomeOfWhole(damaged));
        }
      }),
      { numRuns: 400 },
    );
  });

  const pool = FIXTURE.slice(FIXTURE.indexOf(POOLS) + POOLS.length, FIXTURE.indexOf('},', FIXTURE.indexOf(POOLS)) + 1);
  const state = (pools: string, rest = '') => `{"Id":1,"Result":{"PDEPoolPairs":${pools}${rest}},"Error":null}`;
  const [known = '', next = ''] = Object.entries(IN_ORDER.Result['PDEPoolPairs'] ?? {}).map(
    ([key, value]) => `"${key}":${print(value)}`,
  );
  const odd = pool.replace('"Token1PoolValue": 0', '"Token1PoolValue": -1');
  test.each<[string, string]>([
    ['pools that are a list', state(`[{${pool}}]`)],
    ['pools that are a text', state('"none"')],
    ['pools that are a number', state('7')],
    ['no pools', state('null')],
    ['pools of which there is none', state(' { \n } ')],
    ['one pool', state(`{${pool}}`)],
    ['a pool that is a number', state('{"a":5}')],
    ['a pool that is a list of lists', state('{"a":[[{"b":[1,2]}],3]}')],
    ['a comma before the first pool', state(`{,${pool}}`)],
    ['a comma after the last pool', state(`{${pool},}`)],
    ['nothing but a comma', state('{,}')],
    ['a space that is none of JSON', state('{\u00a0}')],
    ['no comma between two pools', state(`{${pool} ${pool}}`)],
    ['two pools that are expected', state(`{ ${known} , ${next} }`)],
    ['no comma between two pools that are expected', state(`{${known} ${next}}`)],
    ['two commas between them', state(`{${known},,${next}}`)],
    ['a comma after the last', state(`{${known},${next},}`)],
    ['a word behind one', state(`{${known} true,${next}}`)],
    ['an object behind one', state(`{${known}{},${next}}`)],
    ['a text behind one', state(`{${known}"a",${next}}`)],
    ['a bracket behind one', state(`{${known}},${next}}`)],
    ['another in its place', state(`{${next},${known}}`)],
    ['no colon behind the pools', `{"Id":1,"Result":{"PDEPoolPairs" {${pool}}}}`],
    ['the same pool twice, of which the last counts', state(`{${odd},${pool}}`)],
    ['the same pool twice, of which the last does not fit', state(`{${pool},${odd}}`)],
    ['pools twice, of which the last count', state(`{${pool}}`, `,"PDEPoolPairs":{}`)],
    ['pools twice, of which the last do not fit', state(`{${pool}}`, `,"PDEPoolPairs":[]`)],
    ['results twice, of which the last counts', state(`{${pool}}`).replace('"Error"', '"Result":{"a":{}},"Error"')],
    [
      'a name written with escapes',
      state(`{${pool}}`).replace('PDE', '\\u0050\\u0044\\u0045').replace('Res', '\\u0052es'),
    ],
    ['a name that is no text', state(`{${pool}}`).replace('"PDEPoolPairs"', '"PDE\\xPoolPairs"')],
    ['a name of the prototype', state(`{"__proto__":{}}`, ',"__proto__":{"PDEPoolPairs":1}')],
    ['a quote in a text that is dropped', state(`{${pool}}`, ',"Note":"a \\" } ] \\\\","More":["\\\\\\""]')],
    ['a text, a list and an object in its place', state(`{${pool}}`, ',"A":"é","B":["é",{}],"C":{"é":[]},"D":true')],
    ['a time that is an object', state(`{${pool}}`, ',"BeaconTimeStamp":{"a":[1]}')],
    ['a time twice', state(`{${pool}}`, ',"BeaconTimeStamp":"","BeaconTimeStamp":5')],
    ['pools beside the result', `{"PDEPoolPairs":{${pool}},"Result":{"a":[]},"Id":1}`],
    ['pools of a wrong request, which do not fit', state(`{${odd}}`).replace('"Id":1', '"Id":2')],
    [
      'an error beside pools that do not fit',
      state(`{${odd}}`).replace('null', '{"Code":-8000,"Result":{"PDEPoolPairs":{}}}'),
    ],
    ['a result that is a list', '{"Id":1,"Result":[{"PDEPoolPairs":{}}],"Error":null}'],
    ['a result that is a text', '{"Id":1,"Result":"{","Error":null}'],
    ['a list', '[{"Id":1}]'],
    ['a number', '17'],
    ['two numbers', '1 7'],
    ['a text', '"a"'],
    ['nothing', ''],
    ['nothing but space', ' \n\t\r '],
    ['a byte order mark', `\ufeff${FIXTURE}`],
    ['something behind its end', `${FIXTURE} {}`],
    ['space behind its end', `${FIXTURE} \n\n   `],
    ['a bracket too many', `${FIXTURE}}`],
    ['a bracket that does not match', FIXTURE.replace('}', ']')],
    ['a page', '<!DOCTYPE html><p>{"Id": 1}'],
  ])('%s', (_, text) => {
    const outcome = outcomeOfWhole(text);
    for (const sizes of [[1], [2], [3, 1], [64], [65_536]]) {
      expect(outcomeOfChunks(text, sizes)).toEqual(outcome);
      expect(outcomeOfChunks(text, sizes, readerAfterRecorded())).toEqual(outcome);
    }
  });
});

/** How many characters there are before the bracket that closes what was opened before them. */
function contentLength(text: string): number {
  let depth = 1;
  return [...text].findIndex((character) => {
    depth += Number(character === '{') - Number(character === '}');
    return depth === 0;
  });
}

describe('of the state of the beacon is read', () => {
  test('the height, whatever stands around it', () => {
    const filter = { within: 'Result', keep: ['BeaconHeight'], maxBytes: 2 ** 20 };
    const heightIn = (document: unknown) => readInteger(resultOf(document)['BeaconHeight'], '$.Result.BeaconHeight');
    const whole = (text: string) => () => heightIn(parseJson(text));
    const anyMembers = fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue());
    const anyHeight = fc.oneof(fc.nat(), fc.jsonValue());
    fc.assert(
      fc.property(anyMembers, anyHeight, anyMembers, anySizes, (before, BeaconHeight, after, sizes) => {
        const document = { ...before, Id: 1, Result: { ...before, BeaconHeight, ...after }, ...after };
        const text = Buffer.from(JSON.stringify(document, undefined, 1)).toString();
        expect(outcomeOfChunks(text, sizes, createFilteredReader(filter, heightIn))).toEqual(outcomeOf(whole(text)));
      }),
      { numRuns: 200 },
    );
  });
});

describe('the limits of what is kept', () => {
  const outcome = (text: string) => outcomeOfChunks(text, [65_536]);
  const begun = '{"Id":1,"Result":{';

  test.each<[string, string, string]>([
    ['a pool that is too long', `${begun}"PDEPoolPairs":{"a":"${'b'.repeat(66_000)}`, 'more than 65536 bytes'],
    ['an error that is too long', `{"Error":"${'b'.repeat(2 ** 23)}`, 'more than 8388608 bytes'],
    ['too many names', `${begun}${`"${'a'.repeat(1_000)}":{},`.repeat(2 ** 14)}`, 'more than 8388608 bytes'],
    ['nesting that is too deep', `${begun}"a":${'['.repeat(2_000)}`, 'more than 1000 levels of nesting'],
    [
      'too many pools',
      `${begun}"PDEPoolPairs":{${Array.from({ length: 100_001 }, (_, n) => `"${n}":0`).join()}}`,
      'more than 100000 pools',
    ],
  ])('%s is refused before its end', (_, text, message) => {
    expect(withoutStackTraces(() => outcome(text))).toEqual({
      error: expect.objectContaining({ name: 'TooLargeError', message }),
    });
  });

  test.each([
    ['a text', `"a":"${'b'.repeat(2 ** 24)}"`],
    ['a list', `"a":[${'"b",[{}],'.repeat(2 ** 20)}0]`],
    ['space', ' '.repeat(2 ** 24)],
  ])('%s that is skipped may have any length', (_, text) => {
    expect(outcome(`${begun}${text}}, "Error": 5}`)).toMatchObject({
      error: { message: 'expected an object at $.Error' },
    });
  });
});
