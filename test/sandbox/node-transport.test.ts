import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { bytesOf, exchange, fixedSandbox, rpcBody } from './support.ts';

const crossOrigin = [
  'Access-Control-Allow-Credentials: true',
  'Access-Control-Allow-Headers: Content-Type, Origin, Device-Type, Device-Id, Authorization, Accept-Language, Access-Control-Allow-Headers, Access-Control-Allow-Credentials, Access-Control-Allow-Origin, Access-Control-Allow-Methods, *',
  'Access-Control-Allow-Methods: POST, PUT, GET, OPTIONS, DELETE',
  'Access-Control-Allow-Origin: *',
  'Connection: close',
];
const head = (status: string, version = '1.1') =>
  [`HTTP/${version} ${status}`, ...crossOrigin, 'Content-Type: application/json', '', ''].join('\r\n');
const badHeight = '[{"BeaconHeight":"1"}]';
const heightError = `{
	"Id": 1,
	"Result": null,
	"Error": {
		"Code": -1003,
		"Message": "Invalid parameters",
		"StackTrace": "-1003: Beacon height is invalid\\nInvalid parameters\\ngithub.com/incognitochain/incognito-chain/rpcserver/rpcservice.NewRPCError\\n\\t/node/rpcserver/rpcservice/error.go:354\\ngithub.com/incognitochain/incognito-chain/rpcserver.glob..func2\\n\\t/node/rpcserver/stub.go:94\\ngithub.com/incognitochain/incognito-chain/rpcserver.(*HttpServer).ProcessRpcRequest\\n\\t/node/rpcserver/http.go:278\\ngithub.com/incognitochain/incognito-chain/rpcserver.(*HttpServer).handleRequest.func2\\n\\t/node/rpcserver/http.go:141\\nruntime.goexit\\n\\t/usr/lib/go-1.19/src/runtime/asm_amd64.s:1594 "
	},
	"Params": [
		{
			"BeaconHeight": "1"
		}
	],
	"Method": "getpdestate",
	"Jsonrpc": "1.0"
}
`;

describe('the HTTP of the node', () => {
  let sandbox: SandboxHosts;
  beforeAll(async () => {
    sandbox = await fixedSandbox({ history: 20 });
  });
  afterAll(() => sandbox.close());

  const send = (request: string) => exchange(sandbox.nodeUrl, request);
  const body = `{"id":1,"jsonrpc":"1.0","method":"getpdestate","params":${badHeight}}`;

  test('responds with exact bytes, then closes: no length, no chunks, no date', async () => {
    expect(await send(bytesOf('POST', body))).toBe(head('200 OK') + heightError);
  });

  test.each(['GET', 'PUT', 'DELETE', 'PATCH'])('answers %s with a body, on any path, like POST', async (method) => {
    expect(await send(bytesOf(method, body, '/any/path?x=1'))).toBe(head('200 OK') + heightError);
  });

  test('answers HTTP/1.0 in HTTP/1.0', async () => {
    const request = `POST / HTTP/1.0\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expect(await send(request)).toBe(head('200 OK', '1.0') + heightError);
  });

  test('reads a chunked request', async () => {
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const request = `POST / HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`;
    expect(await send(request)).toBe(head('200 OK') + heightError);
  });

  test('answers the first of two pipelined requests', async () => {
    expect(await send(bytesOf('POST', body) + bytesOf('POST', body))).toBe(head('200 OK') + heightError);
  });

  test('sends 100 to a client that expects it', async () => {
    const request = bytesOf('POST', body).replace('Host: node', 'Host: node\r\nExpect: 100-continue');
    expect(await send(request)).toBe(`HTTP/1.1 100 Continue\r\n\r\n${head('200 OK')}${heightError}`);
  });

  test.each([
    ['bad JSON', '{"id":1'],
    ['a batch', `[${body}]`],
    ['something after the JSON', `${body} x`],
    ['no body', ''],
    ['a number', '7'],
    ['a method that is no text', '{"id":1,"method":7}'],
  ])('refuses %s with 400 and no body', async (_, text) => {
    expect(await send(bytesOf('POST', text))).toBe(head('400 Bad Request'));
  });

  test.each([
    ['missing', '{"method":"getblockchaininfo"}'],
    ['null', '{"id":null,"method":"getblockchaininfo"}'],
    ['an object', '{"id":{},"method":"getblockchaininfo"}'],
    ['a boolean', '{"id":true,"method":"getblockchaininfo"}'],
  ])('closes without a byte if the id is %s', async (_, text) => {
    expect(await send(bytesOf('POST', text))).toBe('');
  });

  test('answers an unknown method with 500 and no body', async () => {
    expect(await send(bytesOf('POST', rpcBody('nope')))).toBe(head('500 Internal Server Error'));
  });

  test.each([
    ['OPTIONS', /Date: [^\r]+ GMT\r\nContent-Length: 0\r\n\r\n$/],
    ['HEAD', /Date: [^\r]+ GMT\r\n\r\n$/],
  ])('responds to %s with only a head', async (method, end) => {
    const answer = await send(`${method} / HTTP/1.1\r\nHost: node\r\n\r\n`);
    expect(answer.startsWith(head('200 OK').slice(0, -2))).toBe(true);
    expect(answer).toMatch(end);
  });

  test('echoes id, method and version, numbers as doubles, the keys of objects sorted', async () => {
    const text = `{"ID":12345678901234567890,"METHOD":"getpdestate","JSONRPC":"2.0","PARAMS":[9007199254740993,1e21,{"b":1,"a":"<&>"}]}`;
    const answer = await send(bytesOf('POST', text));
    expect(answer).toContain('{\n\t"Id": 12345678901234567000,\n\t"Result": null,\n\t"Error": {\n');
    expect(answer.slice(answer.indexOf('\t"Params"'))).toBe(
      '\t"Params": [\n\t\t9007199254740992,\n\t\t1e+21,\n\t\t{\n\t\t\t"a": "\\u003c\\u0026\\u003e",\n\t\t\t"b": 1\n\t\t}\n\t],\n\t"Method": "getpdestate",\n\t"Jsonrpc": "2.0"\n}\n',
    );
  });

  test('echoes missing values as null and as an empty text', async () => {
    const answer = await send(bytesOf('POST', '{"id":"abc","method":"getblockchaininfo"}'));
    expect(answer).toContain('{\n\t"Id": "abc",\n\t"Result": {\n');
    expect(answer.slice(answer.indexOf('\t"Error"'))).toBe(
      '\t"Error": null,\n\t"Params": null,\n\t"Method": "getblockchaininfo",\n\t"Jsonrpc": ""\n}\n',
    );
  });
});

describe('a busy node', () => {
  test('refuses clients above its maximum', async () => {
    await using sandbox = await fixedSandbox({ history: 5, maxClients: 1 });
    sandbox.node.faults.set({ kind: 'hang', times: 1 });
    const { hostname, port } = new URL(sandbox.nodeUrl);
    const waiting = connect(Number(port), hostname);
    waiting.write(bytesOf('POST', rpcBody('getblockchaininfo')));
    await expect.poll(() => sandbox.node.calls()).toBe(1);

    const answer = await exchange(sandbox.nodeUrl, bytesOf('POST', rpcBody('getblockchaininfo')));
    const [top = '', text] = answer.split('\r\n\r\n');
    expect(top.replace(/Date: [^\r]+/, 'Date: …').split('\r\n')).toEqual([
      'HTTP/1.1 503 Service Unavailable',
      ...crossOrigin,
      'Content-Type: text/plain; charset=utf-8',
      'X-Content-Type-Options: nosniff',
      'Date: …',
      'Content-Length: 32',
    ]);
    expect(text).toBe('503 Too busy.  Try again later.\n');
    waiting.destroy();
  });
});
