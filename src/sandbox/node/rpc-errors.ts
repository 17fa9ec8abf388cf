import { createRandom } from '../chain/random.ts';
import { printGoFloat } from './go-json.ts';
import type { RpcError } from './rpc.ts';

/** The parameters are not a list that begins with an object. */
export function payloadInvalid(): RpcError {
  return httpError(-1003, 'Invalid parameters', 'Payload data is invalid', 86);
}

/** The parameters contain no height, or one that is not an integer. */
export function heightInvalid(): RpcError {
  return httpError(-1003, 'Invalid parameters', 'Beacon height is invalid', 94);
}

/** The node has no block at a height: it is zero, or in the future for this node. */
export function blockNotFound(height: number): RpcError {
  return stateError(`${rootNotFound(height)}, error Beacon, Block Height ${height} not found`);
}

/** The node has pruned the exchange state of a height: either the record of its root, or the root itself. */
export function statePruned(height: number): RpcError {
  if (height % 2 === 1) return stateError(`${rootNotFound(height)}, error leveldb: not found`);
  return stateError(`missing trie node ${createRandom(height, 'state root').hex(64)} (path )`);
}

/** The node cannot read an exchange state. */
export function stateError(because: string): RpcError {
  return httpError(-8000, 'Get pde state error', because, 98);
}

/** An error of `pdexv3_getState`. Each function that passes it on writes the code in front of it: `depth` times. */
export function v3Error(because: string, depth: number): RpcError {
  const message = 'Get pDex V3 state error';
  return v3Trace(-14001, message, '-14001: '.repeat(depth - 1) + because, depth);
}

/** The parameters of `pdexv3_getState` have a part that is missing or of another type. */
export function v3Invalid(because: string): RpcError {
  return v3Trace(-1003, 'Invalid parameters', because, 1);
}

/** There is no block at a height. */
export function noSuchBlock(height: number): RpcError {
  return httpError(-2003, 'Get block by height fail', `Beacon, Block Height ${height} not found`, 102);
}

function v3Trace(code: number, message: string, cause: string, depth: number): RpcError {
  const server = 'github.com/incognitochain/incognito-chain/rpcserver';
  const trace = [
    `${code}: ${cause}`,
    ...Array.from({ length: depth }, () => message),
    `${server}/rpcservice.NewRPCError\n\t/incognito-chain/rpcserver/rpcservice/error.go:345`,
    `${server}.(*HttpServer).handleGetPdexv3State\n\t/incognito-chain/rpcserver/http_pdexv3.go:43 `,
  ];
  return { Code: code, Message: message, StackTrace: trace.join('\n') };
}

function rootNotFound(height: number): string {
  return `Can't found ConsensusStateRootHash of beacon height ${printGoFloat(height)}`;
}

function httpError(code: number, message: string, cause: string, line: number): RpcError {
  const server = ['(*HttpServer).ProcessRpcRequest http.go:278', '(*HttpServer).handleRequest.func2 http.go:141'];
  return withTrace(code, message, cause, `glob..func2 stub.go:${line}`, ...server);
}

/**
 * Creates an error of the node. The first line is the cause. The rest is the stack trace, with paths of the server's files.
 *
 * @param frames functions of the server, each with its file and line
 */
export function withTrace(code: number, message: string, cause: string, ...frames: readonly string[]): RpcError {
  const server = 'github.com/incognitochain/incognito-chain/rpcserver';
  const trace = [
    `${code}: ${cause}`,
    message,
    `${server}/rpcservice.NewRPCError\n\t/node/rpcserver/rpcservice/error.go:354`,
    ...frames.map((frame) => `${server}.${frame.replace(' ', '\n\t/node/rpcserver/')}`),
    'runtime.goexit\n\t/usr/lib/go-1.19/src/runtime/asm_amd64.s:1594 ',
  ];
  return { Code: code, Message: message, StackTrace: trace.join('\n') };
}
