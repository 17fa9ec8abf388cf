import { createRandom } from './random.ts';
import { type ChainToken, furtherToken, type TokenName, tokenNamed } from './tokens.ts';

/** A constant-product pool of two tokens; `token1` has the lexicographically smaller id. */
export type Venue = {
  /** The reserves of the pool are at `2 * index` and `2 * index + 1` of {@link Block.reserves}. */
  readonly index: number;
  readonly token1: ChainToken;
  readonly token2: ChainToken;
  /** The reserves in the first block, in smallest units. */
  readonly initial: readonly [bigint, bigint];
};

/** A pool of the node. */
export type ChainPool = Venue & {
  /** `<id of token 1>-<id of token 2>`, the part of its key that does not depend on the height. */
  readonly id: string;
  /** The number of blocks between the creation of the pool and the first tip; `undefined` if it always existed. */
  readonly bornBehindTip: number | undefined;
};

// The two tokens, and the value of each side in US dollars.
const CATALOGUE: readonly (readonly [TokenName, TokenName, number])[] = [
  ['PRV', 'BTC', 1_620_000],
  ['PRV', 'ETH', 410_000],
  ['PRV', 'USDT', 730_000],
  ['PRV', 'USDC', 260_000],
  ['PRV', 'XMR', 190_000],
  ['PRV', 'BNB', 150_000],
  ['PRV', 'DAI', 120_000],
  ['PRV', 'LINK', 64_000],
  ['PRV', 'MATIC', 41_000],
  ['PRV', 'KNC', 37_000],
  ['PRV', 'ZRX', 22_000],
  ['PRV', 'BAT', 19_000],
  ['PRV', 'BUSD', 88_000],
  ['PRV', 'cDAI', 9_000],
  ['PRV', 'CRO', 14_000],
  ['PRV', 'HEX', 31_000],
  ['PRV', 'HOT', 120_000],
  ['PRV', 'POWR', 7_000],
  ['PRV', 'GUSD', 16_000],
  ['PRV', 'INO', 5_200],
  ['PRV', 'SWAP', 3_900],
  ['PRV', 'FXC', 2_800],
  ['PRV', 'FXC of 4 decimals', 1_700],
  ['PRV', 'nameless 1', 12_000],
  ['PRV', 'nameless 2', 4_400],
  ['PRV', 'nameless 3', 900],
  ['BTC', 'ETH', 340_000],
  ['BTC', 'USDT', 520_000],
  ['BTC', 'USDC', 280_000],
  ['BTC', 'DAI', 71_000],
  ['BTC', 'XMR', 230_000],
  ['BTC', 'BNB', 52_000],
  ['BTC', 'HOT', 3_100],
  ['ETH', 'USDT', 390_000],
  ['ETH', 'USDC', 170_000],
  ['ETH', 'DAI', 140_000],
  ['ETH', 'LINK', 58_000],
  ['ETH', 'MATIC', 27_000],
  ['ETH', 'KNC', 18_000],
  ['ETH', 'BAT', 11_000],
  ['USDT', 'USDC', 450_000],
  ['USDT', 'DAI', 210_000],
  ['USDT', 'XMR', 96_000],
  ['USDT', 'BNB', 44_000],
  ['USDT', 'GUSD', 13_000],
  ['USDT', 'nameless 2', 2_600],
  ['USDC', 'DAI', 84_000],
  ['USDC', 'HEX', 8_300],
  ['DAI', 'cDAI', 17_000],
  ['USDT', 'SWAP', 1_200],
  ['nameless 1', 'nameless 3', 300],
  ['PRV', 'OMG', 0],
  ['BTC', 'INO', 0],
  ['USDC', 'FXC of 4 decimals', 0],
];
const QUOTES: readonly TokenName[] = ['PRV', 'BTC', 'USDT'];

/** The first `count` pools of the exchange: those of the catalogue, then generated ones. */
export function poolsOf(seed: number, count = CATALOGUE.length): readonly ChainPool[] {
  const further = new Map<number, ChainToken>();
  const furtherOf = (number: number) => {
    const token = further.get(number) ?? furtherToken(number);
    further.set(number, token);
    return token;
  };

  return Array.from({ length: count }, (_, index) => {
    const listed = CATALOGUE[index];
    if (listed) return toPool(seed, index, tokenNamed(listed[0]), tokenNamed(listed[1]), listed[2]);

    const number = index - CATALOGUE.length;
    const quote = tokenNamed(QUOTES[number % QUOTES.length] ?? 'PRV');
    return toPool(seed, index, furtherOf(Math.floor(number / QUOTES.length)), quote, 1_000 + (number % 97) * 500);
  });
}

function toPool(seed: number, index: number, one: ChainToken, other: ChainToken, usd: number): ChainPool {
  const venue = venueOf(createRandom(seed, 'pool', index).between(0.999, 1.001), index, one, other, usd);
  const id = `${venue.token1.id}-${venue.token2.id}`;
  const names = [venue.token1.symbol, venue.token2.symbol].join();
  const initial = names === 'PRV,BTC' ? ([1906314094145580n, 171442164981n] as const) : venue.initial;

  return { ...venue, initial, id, bornBehindTip: names === 'HEX,USDC' ? 100 : undefined };
}

/** A pool with a value of `usd` on each side, and the second side multiplied by `skew`. The tokens can be in any order. */
export function venueOf(skew: number, index: number, one: ChainToken, other: ChainToken, usd: number): Venue {
  const [token1, token2] = one.id < other.id ? [one, other] : [other, one];
  const amountOf = (token: ChainToken, worth: number) => BigInt(Math.round((worth / token.usd) * 10 ** token.decimals));

  return { index, token1, token2, initial: [amountOf(token1, usd), amountOf(token2, usd * skew)] };
}
