import { MAX_DECIMALS } from './amount.ts';

/** The id of a token on the chain: 64 lowercase hexadecimal characters. */
export type TokenId = string;

/** The native coin, PRV. */
export const NATIVE_TOKEN_ID: TokenId = '0000000000000000000000000000000000000000000000000000000000000004';

const TOKEN_ID = /^[0-9a-f]{64}$/;

/** The text as a token id; `undefined` unless it is exactly 64 lowercase hexadecimal characters. */
export function parseTokenId(text: unknown): TokenId | undefined {
  return typeof text === 'string' && TOKEN_ID.test(text) ? text : undefined;
}

/** A token. Nothing about it is guessed. */
export type Token = {
  readonly tokenId: TokenId;
  readonly symbol: string | undefined;
  /** One whole token has 10^decimals smallest units. */
  readonly decimals: number | undefined;
};

/** Tokens by id. */
export type TokenList = ReadonlyMap<TokenId, Token>;

/**
 * The native coin and the best-known bridged and unified tokens of the main network. The chain does not contain decimals. A tokens file
 * adds to this list or corrects it.
 */
export const KNOWN_TOKENS: TokenList = toTokenList([
  { tokenId: NATIVE_TOKEN_ID, symbol: 'PRV', decimals: 9 },
  { tokenId: 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696', symbol: 'BTC', decimals: 9 },
  { tokenId: 'ffd8d42dc40a8d166ea4848baf8b5f6e912ad79875f4373070b59392b1756c8f', symbol: 'ETH', decimals: 9 },
  { tokenId: '716fd1009e2a1669caacc36891e707bfdf02590f96ebd897548e8963c95ebac0', symbol: 'USDT', decimals: 6 },
  { tokenId: '1ff2da446abfebea3ba30385e2ca99b0f0bbeda5c6371f4c23c939672b429a42', symbol: 'USDC', decimals: 6 },
  { tokenId: 'c01e7dc1d1aba995c19b257412340b057f8ad1482ccb6a9bb0adce61afbf05d4', symbol: 'XMR', decimals: 9 },
  { tokenId: 'b2655152784e8639fa19521a7035f331eea1f1e911b2f3200a507ebb4554387b', symbol: 'BNB', decimals: 9 },
  { tokenId: '3f89c75324b46f13c7b036871060e641d996a24c09b3065835cb1d38b799d6c1', symbol: 'DAI', decimals: 9 },
  // The unified tokens: since July 2022, pools hold them in place of the bridged ones with the same symbols.
  { tokenId: '076a4423fa20922526bd50b0d7b0dc1c593ce16e15ba141ede5fb5a28aa3f229', symbol: 'USDT', decimals: 6 },
  { tokenId: '3ee31eba6376fc16cadb52c8765f20b6ebff92c0b1c5ab5fc78c8c25703bb19e', symbol: 'ETH', decimals: 9 },
]);

/** The stable coins among them, which are worth one US dollar each. */
export const STABLE_COINS: readonly TokenId[] = [...KNOWN_TOKENS.values()].flatMap(({ tokenId, symbol = '' }) =>
  ['USDT', 'USDC', 'DAI'].includes(symbol) ? [tokenId] : [],
);

/** Tokens by id; of several with one id, the last. */
export function toTokenList(tokens: Iterable<Token>): TokenList {
  return new Map([...tokens].map((token) => [token.tokenId, token]));
}

/**
 * Reads the document of a tokens file, `[{"id", "symbol", "decimals"}]`; symbol and decimals are optional.
 *
 * @throws Error with the first problem and its path
 */
export function readTokens(document: unknown): Token[] {
  if (!Array.isArray(document)) throw new Error('expected an array of {"id", "symbol", "decimals"}');
  return document.map((entry, index): Token => {
    const { id, symbol, decimals } = (entry ?? {}) as Record<string, unknown>;
    const tokenId = parseTokenId(id);
    if (tokenId === undefined) throw new Error(`expected 64 lowercase hexadecimal characters at $[${index}].id`);
    if (symbol != null && typeof symbol !== 'string') throw new Error(`expected a string at $[${index}].symbol`);
    if (decimals != null && !isDecimals(decimals))
      throw new Error(`expected a whole number from 0 to ${MAX_DECIMALS} at $[${index}].decimals`);
    return { tokenId, symbol: symbol?.toWellFormed(), decimals: decimals ?? undefined };
  });
}

function isDecimals(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_DECIMALS;
}
