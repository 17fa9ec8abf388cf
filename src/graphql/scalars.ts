import { GraphQLDateTimeISO } from 'graphql-scalars';
import { type BeaconHeight, parseBeaconHeight } from '../domain/beacon-height.ts';
import { parseTokenId, type TokenId } from '../domain/token-id.ts';
import { BadUserInputError } from '../errors.ts';
import { builder } from './builder.ts';

/** What is written of it is letters, digits and points: as JSON it stands between quotes as it is. */
const PLAIN_TEXT = { isPlainText: true };

builder.scalarType('BigInt', {
  description:
    "An unsigned 64-bit integer, always as a decimal string; in a token's smallest unit where it is an amount.",
  serialize: String,
  extensions: PLAIN_TEXT,
});

builder.scalarType('Decimal', {
  description: 'An exact decimal number as a string.',
  serialize: String,
  extensions: PLAIN_TEXT,
});

builder.addScalarType('DateTime', GraphQLDateTimeISO, { description: 'A moment as RFC 3339 writes it, in UTC.' });

builder.scalarType('TokenId', {
  description: 'The id of a token: 64 lowercase hexadecimal characters. Anything else is BAD_USER_INPUT.',
  serialize: String,
  extensions: PLAIN_TEXT,
  parseValue: (value): TokenId => parseTokenId(value) ?? badInput('a token id: 64 lowercase hexadecimal characters'),
});

builder.scalarType('BeaconHeight', {
  description: 'A beacon height: a whole number from 1 to 2^53 - 1, as a JSON number. Anything else is BAD_USER_INPUT.',
  serialize: Number,
  parseValue: (value): BeaconHeight =>
    parseBeaconHeight(value) ?? badInput('a beacon height: a whole number from 1 to 9007199254740991'),
});

/** The error as if it were the value: the field that uses it throws it, see bad-input.ts. */
function badInput(expected: string): never {
  return new BadUserInputError(`Expected ${expected}.`) as never;
}
