import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStoreModel } from '../history/store-model.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const blocks = (last: number) => `{ beaconHeight history { blocks(last: ${last}) { beaconHeight hash time } } }`;

describe('the newest blocks', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => {
    gateway = await startGateway({ store: createStoreModel(), config: { historyBackfillHours: 0 } });
    await gateway.ask('{ beaconHeight }');
    for (let block = 0; block < 8; block++) await gateway.advance();
    await until(async () => {
      const { data } = await gateway.ask('{ beaconHeight history { lastHeight } }');
      return data.history?.lastHeight === data.beaconHeight - 3;
    });
  });
  afterAll(() => gateway.close());

  const expected = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, place) => {
      const block = gateway.sandbox.chain.block(from + place);
      return {
        beaconHeight: from + place,
        hash: block?.hash,
        time: new Date((block?.time ?? 0) * 1_000).toISOString(),
      };
    });

  test('are those of the chain up to the newest height, recorded or not yet, oldest first', async () => {
    const { height } = gateway.sandbox.chain.tip;
    const { data, errors } = await gateway.ask(blocks(6));
    expect(errors).toBeUndefined();
    expect(data).toEqual({ beaconHeight: height, history: { blocks: expected(height - 5, height) } });
    expect((await gateway.ask(blocks(2))).data.history.blocks).toEqual(expected(height - 1, height));
    expect((await gateway.ask(blocks(0))).data.history.blocks).toEqual([]);
  });

  test('begin with the first recorded one', async () => {
    const { data } = await gateway.ask(`{ beaconHeight history { firstHeight blocks { beaconHeight } } }`);
    expect(data.history.blocks[0]).toEqual({ beaconHeight: data.history.firstHeight });
    expect(data.history.blocks.at(-1)).toEqual({ beaconHeight: data.beaconHeight });
  });

  test('follow each new height, also in a response that is cached', async () => {
    const { height } = gateway.sandbox.chain.tip;
    await gateway.ask(blocks(3));
    await gateway.advance();
    const { data } = await gateway.ask(blocks(3));
    expect(data).toEqual({ beaconHeight: height + 1, history: { blocks: expected(height - 1, height + 1) } });
  });

  test.each([
    ['a negative number', -1, 'last is -1. It must be 0 or greater.'],
    ['more than a page', 501, 'last is 501. The maximum is 500.'],
  ])('%s is refused, and the other fields of the history are there', async (_name, last, message) => {
    const { data, errors } = await gateway.ask(`{ history { firstHeight blocks(last: ${last}) { hash } } }`);
    expect(data).toEqual({ history: { firstHeight: expect.any(Number), blocks: null } });
    expect(errors).toEqual([
      expect.objectContaining({ message, path: ['history', 'blocks'], extensions: { code: 'BAD_USER_INPUT' } }),
    ]);
  });
});
