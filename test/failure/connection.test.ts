import { expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';
import { TRANSPORTS } from '../support/transports.ts';
import { connect } from '../support/websocket.ts';
import { describeFailure } from './scenario.ts';

const UNREACHABLE = { code: 'UPSTREAM_UNREACHABLE', message: 'cannot be reached', opensCircuit: true } as const;

describeFailure('refuses connections', { fault: 'refused', ...UNREACHABLE, when: 'from the start' });

// Later, the connection is one that is open, and the gateway calls once more.
describeFailure('resets connections instead of answering', { fault: { kind: 'reset' }, ...UNREACHABLE, when: 'later' });

// The body of a node's response ends with its connection, so a truncated one is text that is not JSON.
const NOT_JSON = {
  code: 'UPSTREAM_BAD_SHAPE',
  message: 'sent an invalid response: it is not JSON',
  opensCircuit: false,
} as const;
const TRUNCATED = { fault: { kind: 'truncated' }, when: 'from the start' } as const;
const IN_THE_MIDDLE = 'ends connections in the middle of its answers';

describeFailure(IN_THE_MIDDLE, { only: 'NODE', ...TRUNCATED, ...NOT_JSON });
describeFailure(IN_THE_MIDDLE, { only: 'MARKET_DATA', ...TRUNCATED, ...UNREACHABLE });

test('a call whose connection is reset before the response begins is repeated once, and nothing is logged', async () => {
  const { sandbox, advance, ask, lines } = await startGatewayForTest({ sandbox: { history: 60 } });
  await ask('{ beaconHeight pairs { id } tickers { id } }');
  for (const host of [sandbox.node, sandbox.marketData]) host.faults.set({ kind: 'reset', times: 1 });
  await advance();
  expect((await ask('{ orderBook(tickerId: "pBTC_PRV") { tickerId } }')).errors).toBeUndefined();
  const { data } = await ask('{ service { head { stale } marketData { stale } upstreams { lastErrorCode } } }');
  expect(data.service).toEqual({
    head: { stale: false },
    marketData: { stale: false },
    upstreams: [{ lastErrorCode: null }, { lastErrorCode: null }],
  });
  expect(lines).toEqual([]);
});

test('every transport has the same error for an upstream that cannot be reached', async () => {
  const { app } = await startGatewayForTest({ sandbox: { history: 60 }, before: ({ node }) => node.stop() });
  const url = await app.listen(0, '127.0.0.1');
  const error = {
    message: 'The node cannot be reached.',
    path: ['beaconHeight'],
    locations: [{ line: 1, column: 3 }],
    extensions: { code: 'UPSTREAM_UNREACHABLE', upstream: 'NODE' },
  };
  for (const [name, send] of Object.entries(TRANSPORTS)) {
    const answer = await send(url, { query: '{ beaconHeight tickers(filter: { tickerIds: [] }) { id } }' });
    expect([name, answer]).toEqual([name, { data: { beaconHeight: null, tickers: [] }, errors: [error] }]);
  }
});

test('a subscription on a websocket stays open and then gets the newest', async () => {
  const { app, sandbox, ask } = await startGatewayForTest({ sandbox: { history: 60 } });
  const { height } = sandbox.chain.tip;
  const client = connect(await app.listen(0, '127.0.0.1'));
  const heads = client.iterate({ query: 'subscription { head { beaconHeight } }' });
  const first = await heads.next();
  await sandbox.node.stop();
  sandbox.advance(5);
  await expect.poll(async () => (await ask('{ service { head { stale } } }')).data.service.head.stale).toBe(true);
  const second = heads.next();
  await sandbox.node.start();
  expect([first.value, (await second).value]).toEqual(
    [height, height + 5].map((beaconHeight) => ({ data: { head: { beaconHeight } } })),
  );
});
