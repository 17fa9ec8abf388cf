import type { ChainToken } from './tokens.ts';

/** The value of a token at a height, in US dollars. Pools trade towards it, so that prices of several pools agree. */
export type ValueAt = (token: ChainToken, height: number) => number;

/** How many blocks one wave of each size takes: from some minutes to two days, at 40 s a block. */
const LONGEST = 4_320;
const WAVES = [24, 96, 384, 1_536, LONGEST];

/** How far the largest wave moves a token, relative to its initial value. Coins of one dollar hardly move. */
const USUAL_RANGE = 0.045;
const STABLE_RANGE = 0.0012;
const STABLE_SYMBOLS: ReadonlySet<string> = new Set(['USDT', 'USDC', 'DAI', 'BUSD', 'GUSD', 'cDAI']);

/**
 * Creates the values of a chain's tokens: a sum of smooth waves of several lengths, as in value noise. A wave of a shorter length
 * is lower, by the square root of the length, as in a random walk. Each value follows from the seed, the token and the height
 * alone. It is the initial value at the first height, and stays within about a fifth of it.
 */
export function createValues(seed: number, firstHeight: number): ValueAt {
  const paths = new Map<ChainToken, { readonly hash: number; readonly first: number }>();

  function pathOf(token: ChainToken): { readonly hash: number; readonly first: number } {
    const known = paths.get(token);
    if (known !== undefined) return known;
    const hash = mix(seed ^ Number.parseInt(token.id.slice(0, 8), 16) ^ Number.parseInt(token.id.slice(-8), 16));
    const path = { hash, first: sumOfWaves(hash, firstHeight) };
    paths.set(token, path);
    return path;
  }

  return (token, height) => {
    const { hash, first } = pathOf(token);
    const range = STABLE_SYMBOLS.has(token.symbol ?? '') ? STABLE_RANGE : USUAL_RANGE;
    return token.usd * Math.exp(range * (sumOfWaves(hash, height) - first));
  };
}

function sumOfWaves(hash: number, height: number): number {
  return WAVES.reduce((sum, blocks) => sum + Math.sqrt(blocks / LONGEST) * waveAt(hash ^ blocks, height / blocks), 0);
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
