import { expect, test } from 'vitest';
import { toTokenList } from '../../src/domain/token.ts';
import { createContext } from '../../src/graphql/context.ts';
import { createPriceCrossingStream } from '../../src/loaders/head-streams.ts';
import { createHeadSteps } from '../../src/loaders/stream-operators.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

test.each([
  ['unknown', []],
  ['other ones', [PRV, BTC].map((tokenId) => ({ tokenId, symbol: undefined, decimals: 0 }))],
])(
  'a price that crossed a bound is sent also if the decimals are %s before its update is executed',
  async (_, later) => {
    const gateway = await startGatewayForTest();
    await gateway.untilReady();
    const { service } = gateway.app;
    let list = service.sources.tokens.current();
    const tokens = { ...service.sources.tokens, current: () => list };
    const loaders = {
      sources: { ...service.sources, tokens, headSteps: createHeadSteps(tokens) },
      options: createContext(service).loaders.options,
    };
    const { data } = await gateway.ask(`{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { price } }`);
    const bound: number = data.poolPair.price;
    // A change in any direction crosses it.
    const stream = await createPriceCrossingStream(
      { token1Id: PRV, token2Id: BTC, above: bound, below: bound },
      loaders,
    );
    const { promise: crossed, resolve } = Promise.withResolvers<Parameters<typeof stream.toUpdate>[0]>();
    const subscription = stream.subscribe({
      onNext: (value) => resolve(value),
      onError(reason) {
        throw reason;
      },
    });
    subscription.request();
    const height = gateway.sandbox.chain.tip.height;
    const isCrossed = crossed.then(() => true);
    while (!(await Promise.race([isCrossed, gateway.advance().then(() => false)])))
      expect(gateway.sandbox.chain.tip.height).toBeLessThan(height + 50);
    subscription.cancel();

    const value = await crossed;
    const expected = stream.toUpdate(value, undefined);
    expect(expected).toMatchObject({ bound, previousPrice: bound });
    list = toTokenList(later);
    expect(stream.toUpdate(value, undefined)).toEqual(expected);
  },
);
