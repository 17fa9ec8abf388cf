import { expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';
import { WARN } from '../support/log.ts';
import { bytesOf, startRawServer } from '../upstream/raw-server.ts';

const FOREIGN = 'The node does not look like a node of the Incognito chain: ';
const MEMBERS = `${FOREIGN}its response has the members of another JSON-RPC interface.`;
const envelope = (members: object) =>
  JSON.stringify({ Id: 1, Result: null, Error: null, Params: [], Method: 'x', Jsonrpc: '1.0', ...members });

test.each([
  ['Ethereum', '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"invalid request"}}', '200 OK', MEMBERS],
  ['Bitcoin', '{"result":{"chain":"main","blocks":870000},"error":null,"id":1}', '200 OK', MEMBERS],
  ['an older Bitcoin', '{"result":null,"error":{"code":-32601},"id":1}', '404 Not Found', MEMBERS],
  [
    'a chain with this envelope',
    envelope({ Error: { Code: -32601, Message: 'Method not found' } }),
    '200 OK',
    `${FOREIGN}it has no getblockchaininfo.`,
  ],
  [
    'a chain with this method',
    envelope({ Result: { ChainName: 'other', BestBlock: 7 } }),
    '200 OK',
    `${FOREIGN}its getblockchaininfo has no BestBlocks.`,
  ],
])('a node of %s is named as such to clients, in the log and in /ready', async (_, body, status, message) => {
  // The id is that of the request; the sandbox ignores it.
  const { url } = await startRawServer((socket, call) =>
    socket.end(bytesOf(body.replace(/"(id|Id)":1/, `"$1":${call}`), 'application/json', status)),
  );
  const { ask, app, lines } = await startGatewayForTest({ config: { fullnodeUrl: [url] } });
  expect(await ask('{ beaconHeight tickers(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId } }')).toEqual({
    data: { beaconHeight: null, tickers: [{ tickerId: 'pBTC_PRV' }] },
    errors: [
      {
        message,
        path: ['beaconHeight'],
        locations: expect.anything(),
        extensions: { code: 'UPSTREAM_BAD_SHAPE', upstream: 'NODE' },
      },
    ],
  });
  const ready = await fetch(new URL('/ready', await app.listen(0, '127.0.0.1')));
  expect([ready.status, await ready.json()]).toEqual([
    503,
    {
      status: 'not ready',
      reasons: [{ code: 'HEAD_NOT_READ', message: `no beacon height has been read yet: ${message}` }],
      sandbox: true,
    },
  ]);
  expect(lines).toEqual([
    {
      level: WARN,
      msg: 'an upstream cannot be read',
      upstream: 'NODE',
      code: 'UPSTREAM_BAD_SHAPE',
      retryable: false,
      error: message,
      host: url.host,
      hint: 'see FULLNODE_URL',
    },
  ]);
});

test('one of two nodes that is of another chain does not affect the data, and is named in the log and in /ready', async () => {
  const { url } = await startRawServer((socket) => socket.end(bytesOf('{"jsonrpc":"2.0","id":1,"result":{}}')));
  const { sandbox, ask, app, lines, untilReady } = await startGatewayForTest({
    configOf: ({ nodeUrl }) => ({ fullnodeUrl: [url, new URL(nodeUrl)] }),
  });
  await untilReady();
  expect(await ask('{ beaconHeight }')).toEqual({ data: { beaconHeight: sandbox.chain.tip.height } });
  const ready = await fetch(new URL('/ready', await app.listen(0, '127.0.0.1')));
  expect([ready.status, await ready.json()]).toEqual([
    200,
    {
      status: 'ready',
      exchangeVersion: 'V1',
      notes: [{ code: 'NODES_FAILING', message: `1 of 2 nodes cannot be read: ${MEMBERS}` }],
      sandbox: true,
    },
  ]);
  expect(lines).toEqual([
    expect.objectContaining({ msg: 'one of the nodes cannot be read', node: url.host, error: MEMBERS }),
  ]);
});

test('while the other of two nodes is down, clients get its error, which can end', async () => {
  const { url } = await startRawServer((socket) => socket.end(bytesOf('{"jsonrpc":"2.0","id":1,"result":{}}')));
  const { ask } = await startGatewayForTest({
    configOf: ({ nodeUrl }) => ({ fullnodeUrl: [url, new URL(nodeUrl)] }),
    before: ({ node }) => node.stop(),
  });
  expect((await ask('{ beaconHeight }')).errors).toMatchObject([{ message: 'The node cannot be reached.' }]);
});

test('a node of this chain stays one when it lacks another method, or sends a response without a result', async () => {
  const { sandbox, ask, lines } = await startGatewayForTest({
    before: ({ node }) => {
      node.faults.set({ kind: 'shape', on: 'getpdestate', path: ['Result'], value: null, times: 1 });
      node.faults.set({ kind: 'shape', on: 'getpdestate', path: ['Error'], value: { Code: -32601 }, times: 1 });
    },
  });
  await expect.poll(() => ask('{ beaconHeight }')).toEqual({ data: { beaconHeight: sandbox.chain.tip.height } });
  for (const { error } of lines) expect(String(error)).not.toContain('does not look like');
});
