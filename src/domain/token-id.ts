/** The id of a token on the chain: 64 lowercase hexadecimal characters. */
export type TokenId = string;

/** The native coin, PRV. */
export const NATIVE_TOKEN_ID: TokenId = '0000000000000000000000000000000000000000000000000000000000000004';

const TOKEN_ID = /^[0-9a-f]{64}$/;

/** The text as a token id; `undefined` unless it is exactly 64 lowercase hexadecimal characters. */
export function parseTokenId(text: unknown): TokenId | undefined {
  return typeof text === 'string' && TOKEN_ID.test(text) ? text : undefined;
}
