const HEX_DIGITS = '0123456789abcdef';
const BASE58_DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BASE64_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** A deterministic stream of pseudo-random numbers. */
export type Random = {
  /** The next number from 0 to 1, exclusive. */
  unit(): number;
  /** The next integer from 0 to `limit`, exclusive. */
  below(limit: number): number;
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  hex(length: number): string;
  base58(length: number): string;
  /** The base64 of this number of bytes, with padding. */
  base64(bytes: number): string;
};

/**
 * Creates a stream from its seeds, such as the seed of the chain, the name of a purpose and a height, so that any part of the
 * chain can be computed without the parts before it. The generator is sfc32.
 */
export function createRandom(...parts: readonly (string | number)[]): Random {
  let [a, b, c] = fnv(parts.join('/'));
  let counter = 1;

  function word(): number {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  }
  for (let round = 0; round < 12; round++) word();

  const unit = () => word() / 2 ** 32;
  const below = (limit: number) => Math.floor(unit() * limit);
  // Written into bytes: a text that grew by each digit would stay a rope of as many pieces, and take ten times as long.
  const draw = (digits: string, length: number) => {
    const drawn = Buffer.allocUnsafe(length);
    for (let i = 0; i < length; i++) drawn[i] = digits.charCodeAt(below(digits.length));
    return drawn.toString('latin1');
  };

  return {
    unit,
    below,
    between: (low, high) => low + unit() * (high - low),
    chance: (probability) => unit() < probability,
    hex: (length) => draw(HEX_DIGITS, length),
    base58: (length) => draw(BASE58_DIGITS, length),
    base64: (bytes) => {
      const padding = (3 - (bytes % 3)) % 3;
      return draw(BASE64_DIGITS, Math.ceil(bytes / 3) * 4 - padding) + '='.repeat(padding);
    },
  };
}

// Three FNV hashes of a text in one pass, because a chain needs thousands of streams.
function fnv(text: string): [number, number, number] {
  let [a, b, c] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x01000193);
    c = Math.imul(c ^ code, 0x01000193);
  }
  return [a ^ (a >>> 15), b ^ (b >>> 15), c ^ (c >>> 15)];
}
