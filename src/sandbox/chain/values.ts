import { BLOCK_SECONDS } from './shards.ts';
import type { ChainToken } from './tokens.ts';

/** The value of a token at a time, in US dollars. Pools trade towards it, so that prices of several pools agree. */
export type ValueAt = (token: ChainToken, time: number) => number;

/** How many blocks of 40 s one wave of each size takes: from some minutes to two days. */
const LONGEST = 4_320;
const WAVES = [24, 96, 384, 1_536, LONGEST];

/**
 * How far the largest wave moves a token, relative to its initial value. Coins of one dollar hardly move: all waves together move
 * one by at most 4.3 times as much, so the pools of two of them stay within 1 %.
 */
const USUAL_RANGE = 0.03;
const STABLE_RANGE = 0.0008;
const STABLE_SYMBOLS: ReadonlySet<string> = new Set(['USDT', 'USDC', 'DAI', 'BUSD', 'GUSD', 'cDAI']);

/**
 * Creates the values of a chain's tokens: a sum of smooth waves of several lengths, as in value noise. A wave of a shorter length
 * is lower, by the square root of the length, as in a random walk. Each value follows from the seed, the token and the time
 * alone. It is the initial value at the time of the first block, and stays within about an eighth of it.
 */
export function createValues(seed: number, first: { readonly height: number; readonly time: number }): ValueAt {
  const paths = new Map<ChainToken, { readonly hash: number; readonly start: number }>();

  function pathOf(token: ChainToken): { readonly hash: number; readonly start: number } {
    const known = paths.get(token);
    if (known !== undefined) return known;
    const hash = mix(seed ^ Number.parseInt(token.id.slice(0, 8), 16) ^ Number.parseInt(token.id.slice(-8), 16));
    const path = { hash, start: sumOfWaves(hash, first.height) };
    paths.set(token, path);
    return path;
  }

  return (token, time) => {
    const { hash, start } = pathOf(token);
    const place = first.height + (time - first.time) / BLOCK_SECONDS;
    const range = STABLE_SYMBOLS.has(token.symbol ?? '') ? STABLE_RANGE : USUAL_RANGE;
    return token.usd * Math.exp(range * (sumOfWaves(hash, place) - start));
  };
}

function sumOfWaves(hash: number, place: number): number {
  return WAVES.reduce((sum, blocks) => sum + Math.sqrt(blocks / LONGEST) * waveAt(hash ^ blocks, place / blocks), 0);
}

/** A smooth wave through random points from -1 to 1, one at each integer. */
function waveAt(hash: number, place: number): number {
  const before = Math.floor(place);
  const part = place - before;
  const [from, to] = [pointAt(hash, before), pointAt(hash, before + 1)];
  return from + (to - from) * part * part * (3 - 2 * part);
}

function pointAt(hash: number, place: number): number {
  return mix(hash ^ Math.imul(place, 0x9e3779b1)) / 2 ** 31 - 1;
}

// The finalizer of MurmurHash3: an unsigned integer of 32 bits, in which each bit of the input changes half of the bits.
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
