import { GraphQLDateTimeISO } from 'graphql-scalars';
import { type BeaconHeight, parseBeaconHeight } from '../domain/beacon-height.ts';
import { parseTokenId, type TokenId } from '../domain/token.ts';
import { BadUserInputError } from '../errors.ts';
import { builder } from './builder.ts';

/** The text of a value has only letters, digits and points, which JSON does not escape. */
const PLAIN_TEXT = { isPlainText: true };

builder.scalarType('BigInt', {
  description: 'An unsigned 64-bit integer as a decimal string. Amounts are in the smallest unit of the token.',
  serialize: String,
  extensions: PLAIN_TEXT,
});

builder.scalarType('Decimal', {
  description: 'An exact decimal number, as a string.',
  serialize: String,
  extensions: PLAIN_TEXT,
});

builder.addScalarType('DateTime', GraphQLDateTimeISO, { description: 'Date and time in UTC, as an RFC 3339 string.' });

builder.scalarType('TokenId', {
  description: 'Id of a token: 64 lowercase hexadecimal characters. Any other value is BAD_USER_INPUT.',
  serialize: String,
  extensions: PLAIN_TEXT,
  parseValue: (value): TokenId => parseTokenId(value) ?? badInput('a token id: 64 lowercase hexadecimal characters'),
});

builder.scalarType('BeaconHeight', {
  description: 'A beacon height: an integer from 1 to 2^53 - 1, as a JSON number. Any other value is BAD_USER_INPUT.',
  serialize: Number,
  parseValue: (value): BeaconHeight =>
    parseBeaconHeight(value) ?? badInput('a beacon height: an integer from 1 to 9007199254740991'),
});

/** The error in place of the value. The field with the argument throws it, see bad-input.ts. */
function badInput(expected: string): never {
  return new BadUserInputError(`Expected ${expected}.`) as never;
}
