import { createRandom } from './random.ts';

/** A token of the chain. `symbol` is `undefined` for a token without a name. */
export type ChainToken = {
  readonly id: string;
  readonly symbol: string | undefined;
  readonly decimals: number;
  /** The initial value of one whole token in US dollars. */
  readonly usd: number;
};

/** The name of a token in the catalogues of pools and markets. Unlike a symbol, it is unique. */
export type TokenName = (typeof CATALOGUE)[number][0];

const CATALOGUE = [
  ['PRV', 'PRV', 9, 0.85, '0000000000000000000000000000000000000000000000000000000000000004'],
  ['BTC', 'BTC', 9, 9451, 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696'],
  ['ETH', 'ETH', 9, 240, 'ffd8d42dc40a8d166ea4848baf8b5f6e912ad79875f4373070b59392b1756c8f'],
  ['USDT', 'USDT', 6, 1, '716fd1009e2a1669caacc36891e707bfdf02590f96ebd897548e8963c95ebac0'],
  ['USDC', 'USDC', 6, 1, '1ff2da446abfebea3ba30385e2ca99b0f0bbeda5c6371f4c23c939672b429a42'],
  ['XMR', 'XMR', 9, 66, 'c01e7dc1d1aba995c19b257412340b057f8ad1482ccb6a9bb0adce61afbf05d4'],
  ['BNB', 'BNB', 9, 17, 'b2655152784e8639fa19521a7035f331eea1f1e911b2f3200a507ebb4554387b'],
  ['DAI', 'DAI', 9, 1, '3f89c75324b46f13c7b036871060e641d996a24c09b3065835cb1d38b799d6c1'],
  ['LINK', 'LINK', 9, 4.6, 'e0926da2436adc42e65ca174e590c7b17040cd0b7bdf35982f0dd7fc067f6bcf'],
  ['MATIC', 'MATIC', 9, 0.021, 'dae027b21d8d57114da11209dce8eeb587d01adf59d4fc356a8be5eedc146859'],
  ['KNC', 'KNC', 9, 1.4, '2ea778c817e1fe8b2194fb6906dd0992c849dc807e784e46369f28c0d4b269ff'],
  ['ZRX', 'ZRX', 9, 0.37, 'de395b1914718702687b477703bdd36e52119033a9037bb28f6b33a3d0c2f867'],
  ['BAT', 'BAT', 9, 0.25, '1fe75e9afa01b85126370a1583c7af9f1a5731625ef076ece396fcc6584c2b44'],
  ['BUSD', 'BUSD', 9, 1, '9e1142557e63fd20dee7f3c9524ffe0aa41198c494aa8d36447d12e85f0ddce7'],
  ['cDAI', 'cDAI', 8, 0.0203, '58ab8b4f60056161fdc1cdbdbcf1bbc2d9808ca3337412f828f188f1c99081e4'],
  ['CRO', 'CRO', 8, 0.12, 'ed1ddc6f38a56d815c93b1b18784d8d96722d3480b84ce3254f36e7f8d3793ec'],
  ['HEX', 'HEX', 8, 0.0031, '1b694fc8b5825681dc9249cc566c6926e92130e3375b3b1e6a1e14acba9d38d5'],
  ['HOT', 'HOT', 9, 0.00001, '9ba01cbf9a2c9d9b49889312d47884603d010f427464f0dc2051e4da2be5a44e'],
  ['POWR', 'POWR', 6, 0.09, '2aba7867047af73597c1952beda00e5dfb7d2dfe60f83c498e3731d0e8d19d29'],
  ['GUSD', 'GUSD', 2, 1, '465b0f709844be95d97e1f5c484e79c6c1ac51d28de2a68020e7313d34f644fe'],
  ['INO', 'INO', 0, 0.4, '050156975a56e7b3a381e916c7fe0617659ce74f378757819fe7f47761489161'],
  ['SWAP', 'SWAP', 0, 0.15, '2dc746750e91248c384d01e71665245b24dfcc2ebe605d2bb75dd0e8f1dc6bc1'],
  ['FXC', 'FXC', 9, 0.006, '102c9349ed9765503053eb3b06bf4f118bab2f5845b5f3e3751976300f473323'],
  ['FXC of 4 decimals', 'FXC', 4, 0.02, 'bfeb79c3c26ffaf5cb30a3659641238ef85b828d9731f46a41c8d47c618c90f7'],
  ['OMG', 'OMG', 9, 1.6, '249ca174b4dce58ea6e1f8eda6e6f74ab6a3de4e4913c4f50c15101001bb467b'],
  ['NEO', 'NEO', 9, 10.5, '86c45a9fdddc5546e3b4f09dba211b836aefc5d08ed22e7d33cff7f9b8b39c10'],
  ['TOMO', 'TOMO', 9, 0.55, 'a0a22d131bbfdc892938542f0dbe1a7f2f48e16bc46bf1c5404319335dc1f0df'],
  // Tokens without a name.
  ['nameless 1', undefined, 9, 0.3, '6d4c1fd4a7a8e0ad26d1c8bb5a0fc6f06bb9c7c9cf3cbe2ff1a5d0e3f2b94a17'],
  ['nameless 2', undefined, 6, 2.2, 'c9a0be5eb1d4427c9c9d14f1b6a1b0a64b9b0a4ff0b5f2f5c36ee9d9ac10d83e'],
  ['nameless 3', undefined, 0, 0.05, '0c4ad3f96b5e9d57e7a8cc07b0d9a5fe3f0be0f4a53a86a3c1f6f9d2b7e80519'],
  // Tokens of the newer generation of the exchange. Some have the symbols of older tokens.
  ['newer DAF', 'DAF', 9, 0.0016, '495f59f74371dd86e75a56ba6f457357557a8954b51f90ad4e123694c962e94a'],
  ['newer ETH', 'ETH', 9, 240, '3ee31eba6376fc16cadb52c8765f20b6ebff92c0b1c5ab5fc78c8c25703bb19e'],
  ['newer USDT', 'USDT', 6, 1, '076a4423fa20922526bd50b0d7b0dc1c593ce16e15ba141ede5fb5a28aa3f229'],
] as const;

const TOKENS_BY_NAME = new Map<string, ChainToken>(
  CATALOGUE.map(([name, symbol, decimals, usd, id]) => [name, { id, symbol, decimals, usd }]),
);

/** The token with this name in the catalogue. */
export function tokenNamed(name: TokenName): ChainToken {
  const token = TOKENS_BY_NAME.get(name);
  if (!token) throw new Error(`the catalogue has no token ${name}`);
  return token;
}

const LISTED: ReadonlySet<ChainToken> = new Set(TOKENS_BY_NAME.values());

/** Whether a token is of the catalogue: a chain of the default size has only such tokens. */
export function isListed(token: ChainToken): boolean {
  return LISTED.has(token);
}

/** A generated token, for chains with more pools than the catalogue has. */
export function furtherToken(number: number): ChainToken {
  const random = createRandom('further token', number);
  return {
    id: random.hex(64),
    symbol: `F${number}`,
    decimals: [9, 9, 9, 6, 8][random.below(5)] ?? 9,
    usd: 10 ** random.between(-3, 1),
  };
}

/** The symbol of a token in the market data: bridged tokens have the prefix `p`, the native coin does not. */
export function marketSymbol(token: ChainToken): string {
  return token.symbol === 'PRV' ? 'PRV' : `p${token.symbol}`;
}
