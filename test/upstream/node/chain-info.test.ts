import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/upstream/json.ts';
import { readChainInfo } from '../../../src/upstream/node/chain-info.ts';
import { readResult } from '../../../src/upstream/node/envelope.ts';
import { ShapeError, type WireObject } from '../../../src/upstream/wire.ts';
import { readFixture } from '../fixture.ts';

const recorded = () => readResult(parseJson(readFixture('node/getblockchaininfo')), 1);

/** The recorded answer with something else in the beacon chain's block. */
function withBeacon(fields: WireObject): WireObject {
  const { BestBlocks, ...rest } = recorded();
  const blocks = BestBlocks as Record<string, object>;
  return { ...rest, BestBlocks: { ...blocks, '-1': { ...blocks['-1'], ...fields } } };
}

const validationDataOf = (text: string) => readChainInfo(withBeacon({ ValidationData: text })).beacon.validationData;

describe('the chains of a node', () => {
  test('are those of the recorded response: the beacon chain, and the shards in order of their ids', () => {
    expect(readChainInfo(recorded())).toEqual({
      chainName: 'testnet',
      activeShards: 8,
      beacon: {
        chainId: -1,
        height: 1_440_953,
        hash: '00e6ba277c27cedb0535e09094a0edef4fd38fce3da0b4dda3f7caacebd90873',
        totalTxs: 0n,
        blockProducer: '121VhftSAygpEJZ6i9jGkEKLMQTKTiiH',
        validationDataRaw:
          '{"ProducerBLSSig":"ot3NGElOM5Y=","ProducerBriSig":null,"ValidatiorsIdx":[0,1,2,3],"AggSig":"B5Uvv9lQ14o=","BridgeSig":["","","",""]}',
        validationData: {
          producerBlsSig: 'ot3NGElOM5Y=',
          producerBriSig: undefined,
          validatorsIdx: [0, 1, 2, 3],
          aggSig: 'B5Uvv9lQ14o=',
          bridgeSig: ['', '', '', ''],
        },
        epoch: 14_410,
        time: Date.UTC(2021, 0, 25, 9, 54, 17),
        remainingBlockEpoch: 47,
        epochBlock: 100,
      },
      shards: [
        {
          chainId: 0,
          height: 1_439_898,
          hash: 'b7cfff85b97aa09015329cbf366143f255f3acdcd27f4922393142d972547bf8',
          totalTxs: 36_262n,
          blockProducer: '121VhftSAygpEJZ6i9jGk4diwdFxA6wh',
          validationDataRaw: '',
          validationData: undefined,
          epoch: 0,
          time: Date.UTC(2021, 0, 25, 9, 54, 5),
          remainingBlockEpoch: 0,
          epochBlock: 0,
        },
        {
          chainId: 1,
          height: 1_421_143,
          hash: '0aa42a6551066299eccdc672425b1ff996e90e5ac25862f78fa52d5196d30f0c',
          totalTxs: 24_265n,
          blockProducer: '121VhftSAygpEJZ6i9jGkD9YHfpsQrF8',
          validationDataRaw:
            '{"ProducerBLSSig":"7GMFaoi0yaU=","ProducerBriSig":"c2ln","ValidatiorsIdx":[0,2,3],"AggSig":"BaxKmGRNiTU=","BridgeSig":["","YnJp",""],"PortalSig":null}',
          validationData: {
            producerBlsSig: '7GMFaoi0yaU=',
            producerBriSig: 'c2ln',
            validatorsIdx: [0, 2, 3],
            aggSig: 'BaxKmGRNiTU=',
            bridgeSig: ['', 'YnJp', ''],
          },
          epoch: 0,
          time: Date.UTC(2021, 0, 25, 9, 54, 7),
          remainingBlockEpoch: 0,
          epochBlock: 0,
        },
      ],
    });
  });

  test('have shards in numeric order of their ids, or none', () => {
    const { BestBlocks, ...rest } = recorded();
    const { '-1': beacon } = BestBlocks as Record<string, object>;
    const idsOf = (blocks: object) =>
      readChainInfo({ ...rest, BestBlocks: blocks }).shards.map(({ chainId }) => chainId);
    expect(idsOf({ '10': beacon, '9': beacon, '-1': beacon, '0': beacon })).toEqual([0, 9, 10]);
    expect(idsOf({ '-1': beacon })).toEqual([]);
  });

  test('have exact transaction counts above 2^53', () => {
    expect(readChainInfo(withBeacon({ TotalTxs: 2n ** 64n - 1n })).beacon.totalTxs).toBe(2n ** 64n - 1n);
  });
});

describe('the signatures of a block', () => {
  test.each([
    ['an empty text', ''],
    ['a text that is not JSON', '{"AggSig":'],
    ['JSON that is no object', '[]'],
    ['null', 'null'],
    ['a document without signatures', '{}'],
    ['indexes that are no numbers', '{"ProducerBLSSig":"","ValidatiorsIdx":["0"],"AggSig":"","BridgeSig":[]}'],
    ['signatures that are null', '{"ProducerBLSSig":"","ValidatiorsIdx":[],"AggSig":"","BridgeSig":[null]}'],
  ])('nothing in %s, which is kept as it is', (_, text) => {
    const { beacon } = readChainInfo(withBeacon({ ValidationData: text }));
    expect([beacon.validationData, beacon.validationDataRaw]).toEqual([undefined, text]);
  });

  test('are read from the smallest document', () => {
    const least = '{"ProducerBLSSig":"","ValidatiorsIdx":[],"AggSig":"","BridgeSig":[]}';
    expect(validationDataOf(least)).toEqual({
      producerBlsSig: '',
      producerBriSig: undefined,
      validatorsIdx: [],
      aggSig: '',
      bridgeSig: [],
    });
  });
});

describe('chain info with a wrong shape', () => {
  const beacon = '$.Result.BestBlocks["-1"]';

  test.each<[string, WireObject, string]>([
    ['no blocks', { ChainName: 'a', ActiveShards: 8 }, 'expected an object at $.Result.BestBlocks'],
    ['no beacon chain', { BestBlocks: {} }, `expected the beacon chain at ${beacon}`],
    ['only keys that are no chain', { BestBlocks: { beacon: {}, '-2': {} } }, `expected the beacon chain at ${beacon}`],
    ['a block that is null', { BestBlocks: { '-1': null } }, `expected an object at ${beacon}`],
    ['a height below 0', withBeacon({ Height: -1 }), `expected an integer at ${beacon}.Height`],
    ['a height with a fraction', withBeacon({ Height: 1.5 }), `expected an integer at ${beacon}.Height`],
    ['a height above 2^53', withBeacon({ Height: 2n ** 53n }), `expected an integer at ${beacon}.Height`],
    ['no hash', withBeacon({ Hash: null }), `expected a string at ${beacon}.Hash`],
    ['no time', withBeacon({ Time: undefined }), `expected a Unix timestamp at ${beacon}.Time`],
    [
      'signatures that are no text',
      withBeacon({ ValidationData: {} }),
      `expected a string at ${beacon}.ValidationData`,
    ],
    ['no name', { ...recorded(), ChainName: 5 }, 'expected a string at $.Result.ChainName'],
    ['no count of shards', { ...recorded(), ActiveShards: '8' }, 'expected an integer at $.Result.ActiveShards'],
  ])('%s', (_, result, message) => {
    const read = () => readChainInfo(result);
    expect(read).toThrow(ShapeError);
    expect(read).toThrow(message);
  });

  test('a time that is too late in every unit', () => {
    expect(() => readChainInfo(withBeacon({ Time: 1e20 }))).toThrow(ShapeError);
  });
});
