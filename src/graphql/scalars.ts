import type { ConstValueNode } from 'graphql';
import { GraphQLDateTimeISO } from 'graphql-scalars';
import { parseAmount } from '../domain/amount.ts';
import { parseBeaconHeight } from '../domain/beacon-height.ts';
import { formatExactDecimal, parseExactDecimal } from '../domain/exact-decimal.ts';
import type { Instant } from '../domain/instant.ts';
import { parseTokenId } from '../domain/token.ts';
import { BadUserInputError, withoutStacks } from '../errors.ts';
import { builder } from './builder.ts';

/** The extensions of a scalar whose values have only letters, digits, points and signs, which JSON does not escape. */
const WITHOUT_ESCAPES = { isPlainText: true };

const readAmount = orBadInput(parseAmount, 'an unsigned 64-bit integer as a decimal string, such as "1000000000"');
const readDecimal = orBadInput(parseDecimal, 'a decimal number, such as "0.5"');

builder.scalarType('BigInt', {
  description:
    'An unsigned integer as a decimal string. It has 64 bits, except virtual values, volumes, fees of quotes, and `PoolDepth.downToken2` in V1, which can exceed 2^64 - 1. Amounts are in the smallest unit of the token. Arguments have at most 64 bits, and can also be integers, as JSON numbers up to 2^53 - 1. Any other value is BAD_USER_INPUT.',
  serialize: String,
  extensions: WITHOUT_ESCAPES,
  coerceInputValue: readAmount,
  coerceInputLiteral: (node) => readAmount(writtenValueOf(node)),
});

builder.scalarType('Decimal', {
  description:
    'An exact decimal number, as a string. Arguments can also be JSON numbers. Any other value is BAD_USER_INPUT.',
  serialize: String,
  extensions: WITHOUT_ESCAPES,
  coerceInputValue: (value) => readDecimal(typeof value === 'number' ? String(value) : value),
  coerceInputLiteral: (node) => readDecimal(writtenValueOf(node)),
});

/** A number or a text as it is written: JavaScript would round a long number. */
function writtenValueOf(node: ConstValueNode): unknown {
  return 'value' in node ? node.value : undefined;
}

/** A number without exponent and trailing zeros: equal numbers are equal texts. */
function parseDecimal(text: unknown): string | undefined {
  const decimal = typeof text === 'string' ? parseExactDecimal(text) : undefined;
  return decimal && formatExactDecimal(decimal);
}

builder.scalarType('DateTime', {
  description:
    'Date and time as an RFC 3339 string, in UTC in responses. As an argument, any offset is accepted, and any other text is BAD_USER_INPUT.',
  serialize: (instant) => GraphQLDateTimeISO.coerceOutputValue(instant) as string,
  parseValue: orBadInput(parseDateTime, 'a date and time such as 2026-01-31T12:00:00Z'),
});

/** The instant of an RFC 3339 text. The scalar throws for any other value. */
function parseDateTime(value: unknown): Instant | undefined {
  try {
    return Number(withoutStacks(() => GraphQLDateTimeISO.coerceInputValue(value)));
  } catch {
    return undefined;
  }
}

builder.scalarType('TokenId', {
  description: 'Id of a token: 64 lowercase hexadecimal characters. Any other value is BAD_USER_INPUT.',
  serialize: String,
  extensions: WITHOUT_ESCAPES,
  parseValue: orBadInput(parseTokenId, 'a token id: 64 lowercase hexadecimal characters'),
});

builder.scalarType('BeaconHeight', {
  description: 'A beacon height: an integer from 1 to 2^53 - 1, as a JSON number. Any other value is BAD_USER_INPUT.',
  serialize: Number,
  parseValue: orBadInput(parseBeaconHeight, 'a beacon height: an integer from 1 to 9007199254740991'),
});

/**
 * The parser, with an error in place of a bad value. The field with the argument throws it, see execution/arguments.ts. All bad
 * values share one error: a request can have thousands.
 */
function orBadInput<Value>(parse: (value: unknown) => Value | undefined, expected: string): (value: unknown) => Value {
  const error: unknown = new BadUserInputError(`Expected ${expected}.`);
  return (value) => parse(value) ?? (error as Value);
}
