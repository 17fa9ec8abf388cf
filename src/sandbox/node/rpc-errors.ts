import { printGoFloat } from './go-json.ts';
import type { RpcError } from './rpc.ts';

/** The parameters of a call are no list that begins with an object. */
export function payloadInvalid(): RpcError {
  return withTrace(-1003, 'Invalid parameters', 'Payload data is invalid', 86);
}

/** The parameters of a call hold no height, or one that is not an integer. */
export function heightInvalid(): RpcError {
  return withTrace(-1003, 'Invalid parameters', 'Beacon height is invalid', 94);
}

/** The node has no exchange state of a height: it is zero, in the future, or pruned. */
export function stateMissing(height: number): RpcError {
  const cause = `Can't found ConsensusStateRootHash of beacon height ${printGoFloat(height)}`;
  return withTrace(-8000, 'Get pde state error', `${cause}, error Beacon, Block Height ${height} not found`, 98);
}

// The first line says what happened; the rest is where in the server, with paths of its files.
function withTrace(code: number, message: string, cause: string, line: number): RpcError {
  const server = 'github.com/incognitochain/incognito-chain/rpcserver';
  const trace = [
    `${code}: ${cause}`,
    message,
    `${server}/rpcservice.NewRPCError\n\t/node/rpcserver/rpcservice/error.go:354`,
    `${server}.glob..func2\n\t/node/rpcserver/stub.go:${line}`,
    `${server}.(*HttpServer).ProcessRpcRequest\n\t/node/rpcserver/http.go:278`,
    `${server}.(*HttpServer).handleRequest.func2\n\t/node/rpcserver/http.go:141`,
    'runtime.goexit\n\t/usr/lib/go-1.19/src/runtime/asm_amd64.s:1594 ',
  ];
  return { Code: code, Message: message, StackTrace: trace.join('\n') };
}
