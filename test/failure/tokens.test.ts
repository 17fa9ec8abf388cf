import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { TokenServiceFault } from '../../src/sandbox/faults.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';
import { sample } from '../support/metrics.ts';
import { PRV, USDT } from '../support/tokens.ts';

const HEX = '1b694fc8b5825681dc9249cc566c6926e92130e3375b3b1e6a1e14acba9d38d5';

const TOKEN = 'query ($id: TokenId!) { token(id: $id) { symbol decimals } }';
const PRICE = `{ poolPair(token1Id: "${PRV}", token2Id: "${HEX}") { price token2 { decimals } } }`;

/** An entry of a token service. */
const entry = (TokenID: string, fields: object = {}) => ({
  ...{ TokenID, Symbol: 'X', PDecimals: 4, Verified: false },
  ...fields,
});

/** A fault of a token service that makes it list these entries alone. */
const listOf = (value: readonly unknown[]) => ({ kind: 'shape', path: ['Result'], value }) as const;

/** A gateway with a token service that it reads all the time. */
async function tokensGateway(options: TestGatewayOptions = {}) {
  const gateway = await startGatewayForTest({
    ...options,
    config: { tokensFile: [], tokensPollMs: 50, ...options.config },
    configOf: ({ tokensUrl }) => ({ tokensUrl: new URL(tokensUrl) }),
  });
  const { ask, app, sandbox } = gateway;
  const { origin } = new URL(await app.listen(0, '127.0.0.1'));
  const place = sandbox.chain.tokens.filter(({ symbol }) => symbol !== undefined).findIndex(({ id }) => id === HEX);
  return {
    ...gateway,
    origin,
    place,
    untilListed: () => expect.poll(() => app.service.sources.tokens.status?.changedAt()).toBeDefined(),
    token: async (id: string) => (await ask(TOKEN, { id })).data.token,
    ready: async () => (await fetch(`${origin}/ready`)).json(),
    metrics: async () => (await fetch(`${origin}/metrics`)).text(),
  };
}

describe('a token service', () => {
  test('describes tokens that the built-in list does not have', async () => {
    const { token, untilListed, ask, metrics, app } = await tokensGateway();
    await untilListed();
    expect(await token(HEX)).toEqual({ symbol: 'HEX', decimals: 8 });
    expect((await ask(PRICE)).data.poolPair.price).toBeGreaterThan(0);
    expect(sample(await metrics(), 'pdex_tokens')).toBe(app.service.sources.tokens.current().size);
    expect(sample(await metrics(), 'pdex_tokens_age_seconds')).toBe(0);
  });

  test('is not called without the setting', async () => {
    const { sandbox, advance } = await startGatewayForTest();
    await advance();
    expect(sandbox.tokenService.calls()).toBe(0);
  });

  test('overrides the built-in list, and the tokens file overrides it', async () => {
    const { token, untilListed, sandbox } = await tokensGateway({
      config: { tokensFile: [{ tokenId: USDT, symbol: 'FILE', decimals: 3 }] },
      before: ({ tokenService }) =>
        void tokenService.faults.set({ kind: 'shape', path: ['Result', '*', 'PDecimals'], value: 2 }),
    });
    await untilListed();
    expect(await token(PRV)).toEqual({ symbol: 'PRV', decimals: 2 });
    expect(await token(USDT)).toEqual({ symbol: 'FILE', decimals: 3 });
    expect(sandbox.tokenService.calls('tokenlist')).toBeGreaterThan(0);
  });

  test('lists a token twice: the verified entry counts, else the first', async () => {
    const { token, untilListed } = await tokensGateway({
      before: ({ tokenService }) =>
        void tokenService.faults.set(
          listOf([
            entry(HEX, { Symbol: 'FALSE' }),
            entry(HEX.toUpperCase(), { Symbol: 'TRUE', Verified: true }),
            entry(USDT, { Symbol: 'A', Verified: true }),
            entry(USDT, { Symbol: 'B', Verified: true }),
          ]),
        ),
    });
    await untilListed();
    expect([await token(HEX), await token(USDT)]).toEqual([
      { symbol: 'TRUE', decimals: 4 },
      { symbol: 'A', decimals: 4 },
    ]);
  });

  test('skips entries that are wrong, and counts them in a warning', async () => {
    const wrong = [
      { PDecimals: 31 },
      { PDecimals: '8' },
      { PDecimals: -1 },
      { PDecimals: undefined },
      { Symbol: 7 },
      { Symbol: 'A'.repeat(65) },
      { TokenID: 'abc' },
    ].map((fields, n) => entry(`${n}`.repeat(64), fields));
    const { token, untilListed, sandbox, lines, metrics, app } = await tokensGateway({
      before: ({ tokenService }) =>
        void tokenService.faults.set(listOf([null, ...wrong, entry(PRV, { PDecimals: 3 })])),
    });
    await untilListed();
    const listed = app.service.sources.tokens.current();
    expect(wrong.filter(({ TokenID }) => listed.has(TokenID))).toEqual([]);
    expect((await token(PRV)).decimals).toBe(3);
    expect(sample(await metrics(), 'pdex_tokens_skipped_entries')).toBe(8);
    sandbox.tokenService.faults.clear();
    await expect
      .poll(() => lines.filter(({ msg }) => msg.includes('invalid entries')))
      .toEqual([
        { level: WARN, msg: 'invalid entries of the token service are skipped', upstream: 'TOKENS', entries: 8 },
        { level: INFO, msg: 'the token service has no invalid entries any more', upstream: 'TOKENS' },
      ]);
  });

  test('does not say the decimals of a token that nobody has described', async () => {
    const undescribed = { PSymbol: '', PDecimals: 0 };
    const other = 'b'.repeat(64);
    const { token, untilListed } = await tokensGateway({
      before: ({ tokenService }) =>
        void tokenService.faults.set(
          listOf([
            entry(PRV, undescribed),
            entry(HEX, undescribed),
            entry(other, { PSymbol: 'pX', PDecimals: 0 }),
            entry(USDT, { PSymbol: 'pUSDT', PDecimals: 0 }),
          ]),
        ),
    });
    await untilListed();
    const decimals = await Promise.all([PRV, HEX, other, USDT].map(async (id) => (await token(id)).decimals));
    expect(decimals).toEqual([9, null, 0, 0]);
  });

  test('has at most 50,000 tokens that are read', async () => {
    const entries = Array.from({ length: 50_010 }, (_, n) => entry(n.toString(16).padStart(64, '0')));
    const { untilListed, app } = await tokensGateway({
      config: { tokensPollMs: 60_000 },
      before: ({ tokenService }) => void tokenService.faults.set(listOf(entries)),
    });
    await untilListed();
    expect(app.service.sources.tokens.status?.skipped()).toBe(10);
  });

  test('can have a token without a symbol', async () => {
    const id = 'a'.repeat(64);
    const { token, untilListed } = await tokensGateway({
      before: ({ tokenService }) => void tokenService.faults.set(listOf([entry(id, { Symbol: '' })])),
    });
    await untilListed();
    expect(await token(id)).toEqual({ symbol: null, decimals: 4 });
  });
});

describe('a token service that fails', () => {
  test.each<[string, TokenServiceFault, string]>([
    ['an error with status 500', { kind: 'service-error', status: 500, error: 'x' }, 'UPSTREAM_BAD_STATUS'],
    ['an error with status 200', { kind: 'service-error', error: 'x' }, 'UPSTREAM_BAD_SHAPE'],
    ['a list and an error', { kind: 'shape', path: ['Error'], value: 'x' }, 'UPSTREAM_BAD_SHAPE'],
    ['an empty list', { kind: 'shape', path: ['Result'], value: [] }, 'UPSTREAM_BAD_SHAPE'],
    [
      'a list without a valid entry',
      { kind: 'shape', path: ['Result', '*', 'TokenID'], value: 1 },
      'UPSTREAM_BAD_SHAPE',
    ],
    ['an object instead of the list', { kind: 'shape', path: ['Result'], value: {} }, 'UPSTREAM_BAD_SHAPE'],
    ['no JSON', { kind: 'garbage' }, 'UPSTREAM_BAD_SHAPE'],
    ['a page', { kind: 'html' }, 'UPSTREAM_FILTERED'],
    ['a reset', { kind: 'reset' }, 'UPSTREAM_UNREACHABLE'],
    ['no response', { kind: 'hang' }, 'UPSTREAM_TIMEOUT'],
  ])('with %s: the last list stays, until it can be read again', async (_, fault, code) => {
    const { token, untilListed, sandbox, lines, ready, untilReady } = await tokensGateway({
      config: { upstreamTimeoutMs: 1_000, headPollMs: 200 },
    });
    await untilListed();
    await untilReady();
    sandbox.tokenService.faults.set(fault);
    await expect.poll(ready).toMatchObject({
      status: 'ready',
      exchangeVersion: 'V1',
      notes: [{ code: 'TOKENS_FAILING', message: expect.any(String) }],
    });
    expect(await token(HEX)).toEqual({ symbol: 'HEX', decimals: 8 });
    sandbox.tokenService.faults.clear();
    await expect.poll(ready).toEqual({ status: 'ready', exchangeVersion: 'V1', sandbox: true });
    expect(lines.filter(({ upstream }) => upstream === 'TOKENS').map(({ level, code }) => [level, code])).toEqual([
      [WARN, code],
      [INFO, undefined],
    ]);
  });

  test('from the start: the built-in list and the tokens file are served, and the list is read soon after', async () => {
    const { token, untilListed, sandbox } = await tokensGateway({
      before: ({ tokenService }) => void tokenService.faults.set({ kind: 'status', status: 503 }),
    });
    expect(await token(USDT)).toEqual({ symbol: 'USDT', decimals: 6 });
    expect(await token(HEX)).toMatchObject({ decimals: null });
    sandbox.tokenService.faults.clear();
    await untilListed();
    expect(await token(HEX)).toEqual({ symbol: 'HEX', decimals: 8 });
  });

  test('does not show the key of its URL', async () => {
    const { lines } = await startGatewayForTest({
      config: { logLevel: 'trace' },
      before: ({ tokenService }) => void tokenService.faults.set({ kind: 'echo', status: 500, as: 'text' }),
      configOf: ({ tokensUrl }) => ({
        tokensUrl: new URL(`${tokensUrl.replace('//', '//name:passw0rd@')}?key=s3cr3t-key`),
      }),
    });
    await expect.poll(() => lines.some(({ upstream, level }) => upstream === 'TOKENS' && level === WARN)).toBe(true);
    expect(JSON.stringify(lines)).not.toMatch(/s3cr3t|passw0rd/);
  });
});

describe('a token that changes', () => {
  test('changes cached answers about the newest height and about final ones, and the JSON of pools', async () => {
    const { ask, untilListed, sandbox, place, origin, app } = await tokensGateway();
    await untilListed();
    const at = sandbox.chain.tip.height - 50;
    const final = `{ poolPair(token1Id: "${PRV}", token2Id: "${HEX}", at: ${at}) { price } }`;
    const page = '{ poolPairs(first: 500) { nodes { id price token2 { decimals } } } }';
    const answers = async () => {
      // The third time, each is a cache hit.
      for (let times = 0; times < 2; times++) for (const query of [PRICE, final, page]) await ask(query);
      return Promise.all([PRICE, final, page].map((query) => ask(query)));
    };
    const get = async () => {
      const { headers, body } = await request(`${origin}/graphql?query=${encodeURIComponent(final)}`);
      await body.dump();
      return String(headers['cache-control']);
    };
    const before = await answers();
    // Prices depend on the list, so the answer is not immutable.
    expect(await get()).not.toContain('immutable');

    const listed = app.service.sources.tokens.current();
    sandbox.tokenService.faults.set({ kind: 'shape', path: ['Result', place, 'PDecimals'], value: 6 });
    await expect.poll(() => app.service.sources.tokens.current() === listed).toBe(false);
    const after = await answers();
    expect(after[0]?.data.poolPair.token2.decimals).toBe(6);
    for (const place of [0, 1]) expect(after[place]?.data.poolPair.price).not.toBe(before[place]?.data.poolPair.price);
    const hex = (answer: (typeof after)[number] | undefined) =>
      answer?.data.poolPairs.nodes.find(({ id }: { id: string }) => id === `PoolPair:${PRV}-${HEX}`);
    expect([hex(before[2])?.token2.decimals, hex(after[2])?.token2.decimals]).toEqual([8, 6]);
    expect(hex(after[2])?.price).toBe(after[0]?.data.poolPair.price);
  });

  test('makes the next update of prices complete, also with onlyChanged', async () => {
    const { subscribe, untilListed, sandbox, place, app, clock, advance } = await tokensGateway();
    await untilListed();
    clock.now += 1_000;
    await advance();
    const updates = subscribe('subscription { prices(onlyChanged: true) { poolPairs { id price } } }');
    const sizes = async () => (await updates.next()).value?.data.prices.poolPairs.length;
    const all = await sizes();
    sandbox.advance();
    expect(await sizes()).toBeLessThan(all);

    const listed = app.service.sources.tokens.current();
    sandbox.tokenService.faults.set({ kind: 'shape', path: ['Result', place, 'PDecimals'], value: 6 });
    await expect.poll(() => app.service.sources.tokens.current() === listed).toBe(false);
    clock.now += 1_000;
    sandbox.advance();
    expect(await sizes()).toBe(all);
    clock.now += 1_000;
    sandbox.advance();
    expect(await sizes()).toBeLessThan(all);
    await updates.return(undefined);
  });
});
