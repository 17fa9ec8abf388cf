import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { AmbiguousTickerError, UpstreamUnreachableError, withoutStacks } from '../../src/errors.ts';
import { createErrorMask } from '../../src/graphql/errors.ts';

function createMask() {
  const logged: unknown[] = [];
  return { logged, mask: createErrorMask((error) => logged.push(error)) };
}

/** An error as GraphQL wraps it, with its path. */
function located(originalError: Error): GraphQLError {
  return new GraphQLError(originalError.message, { originalError, path: ['pairs', 0, 'ticker'] });
}

test('an error of the gateway is sent with its code and extensions, without its details', () => {
  const { mask, logged } = createMask();
  expect(mask(located(new AmbiguousTickerError('A_B', ['p1', 'p2']))).toJSON()).toEqual({
    message: '2 pools have the ticker id "A_B". Set poolId to select one.',
    path: ['pairs', 0, 'ticker'],
    extensions: { code: 'AMBIGUOUS_TICKER', poolIds: ['p1', 'p2'] },
  });
  const unreachable = new UpstreamUnreachableError('NODE', { url: 'http://10.0.0.1:9334/' }, new Error('ECONNREFUSED'));
  expect(mask(located(unreachable)).toJSON()).toEqual({
    message: 'The node cannot be reached.',
    path: ['pairs', 0, 'ticker'],
    extensions: { code: 'UPSTREAM_UNREACHABLE', upstream: 'NODE' },
  });
  expect(logged).toEqual([]);
});

test('an error lists at most twenty pools of a ticker id', () => {
  const poolIds = Array.from({ length: 2_000 }, (_, number) => `p${number}`);
  const { message, extensions } = new AmbiguousTickerError('A_B', poolIds);
  expect(message).toBe('2000 pools have the ticker id "A_B". Set poolId to select one.');
  expect(extensions).toEqual({ poolIds: poolIds.slice(0, 20) });
});

test('an error for clients has no stack, and errors after it have one', () => {
  const stackOf = (error: Error) => error.stack ?? '';
  const frame = '\n    at ';
  expect(stackOf(new AmbiguousTickerError('A_B', []))).not.toContain(frame);
  expect(stackOf(new TypeError('a defect'))).toContain(frame);
  const fail = () => {
    throw new TypeError('a defect');
  };
  expect(() => withoutStacks(fail)).toThrow('a defect');
  expect(stackOf(new TypeError('a defect'))).toContain(frame);
});

test('any other error is masked and logged', () => {
  const { mask, logged } = createMask();
  const bug = new TypeError('cannot read properties of undefined at /srv/secret.ts');
  expect(mask(located(bug)).toJSON()).toEqual({
    message: 'An internal error occurred in the gateway.',
    path: ['pairs', 0, 'ticker'],
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  });
  expect(mask(bug).toJSON()).toEqual({
    message: 'An internal error occurred in the gateway.',
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  });
  expect(logged).toEqual([bug, bug]);
});

test('an error of GraphQL itself has a code of the gateway', () => {
  const { mask } = createMask();
  const codes = [
    undefined,
    'BAD_REQUEST',
    'OPERATION_RESOLUTION_FAILURE',
    'REQUEST_ENTITY_TOO_LARGE',
    'QUERY_TOO_COMPLEX',
  ];
  const masked = codes.map((code) => mask(new GraphQLError('no', code === undefined ? {} : { extensions: { code } })));
  expect(masked.map(({ extensions }) => extensions['code'])).toEqual([
    'BAD_USER_INPUT',
    'BAD_USER_INPUT',
    'BAD_USER_INPUT',
    'QUERY_TOO_COMPLEX',
    'QUERY_TOO_COMPLEX',
  ]);
});

test.each([0, 1])('a long message is cut, also within a character: %d', (offset) => {
  const { mask } = createMask();
  const { message } = mask(new GraphQLError('x'.repeat(offset) + '\u{1f600}'.repeat(400)));
  expect(message).toMatch(
    new RegExp(`^x{${offset}}(\u{1f600}){249,250}\ufffd?… \\(${800 + offset} characters\\)$`, 'u'),
  );
  expect(message.isWellFormed()).toBe(true);
});
