import { describe, expect, test } from 'vitest';
import { UpstreamBadStatusError, UpstreamRpcError, UpstreamTimeoutError } from '../../../src/errors.ts';
import { canBeUnknownMethod, isUnknownMethod, readResult, toRequest } from '../../../src/upstream/node/envelope.ts';
import { ShapeError } from '../../../src/upstream/wire.ts';

const whole = { Id: 7, Result: { a: 1 }, Error: null, Params: [], Method: 'getpdestate', Jsonrpc: '1.0' };

describe('a request to the node', () => {
  test('has the documented form: an integer id, version 1.0, a method and a list', () => {
    expect(toRequest(7, 'getpdestate', [{ BeaconHeight: 5 }])).toBe(
      '{"id":7,"jsonrpc":"1.0","method":"getpdestate","params":[{"BeaconHeight":5}]}',
    );
  });
});

test.each<[string, Error, 'yes' | 'perhaps' | 'no']>([
  ['status 500 without a body', new UpstreamBadStatusError('NODE', 500, '', {}), 'perhaps'],
  ['status 403, as a proxy does', new UpstreamBadStatusError('NODE', 403, 'no', {}), 'perhaps'],
  ['status 500 with a text', new UpstreamBadStatusError('NODE', 500, 'panic', {}), 'no'],
  ['status 503', new UpstreamBadStatusError('NODE', 503, '', {}), 'no'],
  ['status 429', new UpstreamBadStatusError('NODE', 429, '', {}), 'no'],
  ['error -1002', new UpstreamRpcError(-1002, {}), 'yes'],
  ['error -32601', new UpstreamRpcError(-32_601, {}), 'yes'],
  ['error -14001', new UpstreamRpcError(-14_001, {}), 'no'],
  ['no response', new UpstreamTimeoutError('NODE', 5, {}), 'no'],
])('%s: whether the node does not have the method', (_, error, isUnknown) => {
  expect(isUnknownMethod(error)).toBe(isUnknown === 'yes');
  expect(canBeUnknownMethod(error)).toBe(isUnknown !== 'no');
});

describe('the envelope of a response', () => {
  test('contains the result, whatever other fields it has', () => {
    expect(readResult(whole, 7)).toEqual({ a: 1 });
    expect(readResult({ Id: 7, Result: { a: 1 } }, 7)).toEqual({ a: 1 });
    expect(readResult({ ...whole, Params: 5, Method: null, Jsonrpc: {}, More: [] }, 7)).toEqual({ a: 1 });
  });

  test.each([
    ['no object', [], 'expected an object at $'],
    ['the answer to another request', { ...whole, Id: 8 }, 'expected the id of the request at $.Id'],
    ['an id of another type', { ...whole, Id: '7' }, 'expected the id of the request at $.Id'],
    ['no id', { ...whole, Id: undefined }, 'expected the id of the request at $.Id'],
    ['no result', { ...whole, Result: null }, 'expected an object at $.Result'],
    ['a result that is a list', { ...whole, Result: [] }, 'expected an object at $.Result'],
    ['an error that is a text', { ...whole, Error: 'no' }, 'expected an object at $.Error'],
    ['a trace that is no text', { ...whole, Error: { StackTrace: 5 } }, 'expected a string at $.Error.StackTrace'],
  ])('%s does not fit', (_, document, message) => {
    const read = () => readResult(document, 7);
    expect(read).toThrow(ShapeError);
    expect(read).toThrow(message);
  });
});

describe('an error of the node', () => {
  test.each([
    [
      'its code to clients; its message and the first line of its trace to the log',
      { Code: -8000, Message: 'Get pde state error', StackTrace: "-8000: Can't found\n/node/rpcserver/a.go:7" },
      { rpcCode: -8000, message: 'The node responded with error -8000.' },
      { message: 'Get pde state error', because: "-8000: Can't found" },
    ],
    [
      'nothing where it says nothing',
      {},
      { rpcCode: undefined, message: 'The node responded with an error.' },
      { message: undefined, because: '' },
    ],
    [
      'its message where that is all',
      { Message: 'no' },
      { rpcCode: undefined, message: 'The node responded with an error.' },
      { message: 'no', because: '' },
    ],
    [
      'no code that is no number',
      { Code: '-8000', StackTrace: null },
      { rpcCode: undefined, message: 'The node responded with an error.' },
      { message: undefined, because: '' },
    ],
  ])('%s', (_, error, told, details) => {
    const rpcError = {
      ...told,
      details,
      code: 'UPSTREAM_RPC_ERROR',
      retryable: told.rpcCode === -8000,
      extensions: { upstream: 'NODE' },
    };
    expect(() => readResult({ ...whole, Result: null, Error: error }, 7)).toThrow(expect.objectContaining(rpcError));
    expect(() => readResult({ ...whole, Error: error }, 7)).toThrow(expect.objectContaining(rpcError));
  });
});
