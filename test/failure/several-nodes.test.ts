import { describe, expect, test } from 'vitest';
import { keepEvents } from '../support/events.ts';
import { INFO, WARN } from '../support/log.ts';
import {
  broken,
  configFor,
  endOutage,
  type Fault,
  FRESH,
  HEADS,
  openThreeNodes,
  POOLS,
  REFUSED,
  recovered,
  STATE,
  startOutage,
} from './three-nodes.ts';

describe('of three nodes the one that is read', () => {
  test.each<[string, Fault, string]>([
    ['refuses connections', REFUSED, 'UPSTREAM_UNREACHABLE'],
    ['answers a byte at a time', { kind: 'drip' }, 'UPSTREAM_TIMEOUT'],
    ['is overloaded', { kind: 'status', status: 503 }, 'UPSTREAM_BAD_STATUS'],
    ['answers with what is not JSON', { kind: 'garbage' }, 'UPSTREAM_BAD_SHAPE'],
  ])('%s from the start: another is read, and clients get no error', async (_, fault, code) => {
    const { sandbox, ask, lines, hosts, nodesFigure, upstreamFigure, readyStatus, untilHeight, advance } =
      await openThreeNodes({
        config: configFor(fault),
        before: (started) => startOutage(started, 0, fault),
      });
    const { height } = sandbox.chain.tip;
    await untilHeight(height);
    expect(await ask(STATE, { at: height - 9 })).toEqual({
      data: { beaconHeight: height, now: POOLS, earlier: POOLS, service: FRESH },
    });
    await ask('{ pairs { id } tickers { id } }');
    expect(await readyStatus()).toBe(200);
    expect(await upstreamFigure('pdex_upstream_healthy{upstream="NODE"}')).toBe(1);
    await expect.poll(() => lines).toEqual([broken(hosts[0], code)]);
    await expect.poll(() => nodesFigure('pdex_node_beacon_height')).toEqual([0, height, height]);
    expect(await nodesFigure('pdex_node_read')).toEqual([0, 1, 0]);

    await endOutage(sandbox, 0);
    await expect.poll(() => lines).toEqual([broken(hosts[0], code), recovered(hosts[0])]);
    await advance();
    expect(await nodesFigure('pdex_node_read')).toEqual([0, 1, 0]);
  });

  test.each<[string, Fault, string]>([
    ['resets connections', { kind: 'reset' }, 'UPSTREAM_UNREACHABLE'],
    ['resets connections in the middle of its answers', { kind: 'reset-in-body' }, 'UPSTREAM_BAD_SHAPE'],
    ['never answers', { kind: 'hang' }, 'UPSTREAM_TIMEOUT'],
    ['is behind a filter', { kind: 'html' }, 'UPSTREAM_FILTERED'],
  ])(
    '%s after good responses: another is read, and subscribers get each height without an error',
    async (_, fault, code) => {
      const { sandbox, ask, subscribe, lines, hosts, nodesFigure, readyStatus, advance } = await openThreeNodes({
        config: configFor(fault),
      });
      const { height } = sandbox.chain.tip;
      const heads = keepEvents(subscribe(HEADS));
      await expect.poll(() => heads.answers.length).toBe(1);
      await ask('{ pairs { id } tickers { id } }');
      expect(await nodesFigure('pdex_node_read')).toEqual([1, 0, 0]);

      await startOutage(sandbox, 0, fault);
      await advance();
      expect(await ask(STATE, { at: height - 9 })).toEqual({
        data: { beaconHeight: height + 1, now: POOLS, earlier: POOLS, service: FRESH },
      });
      expect(await readyStatus()).toBe(200);
      await expect.poll(() => lines).toEqual([broken(hosts[0], code)]);
      expect(await nodesFigure('pdex_node_read')).toEqual([0, 1, 0]);

      await endOutage(sandbox, 0);
      await expect.poll(() => lines).toEqual([broken(hosts[0], code), recovered(hosts[0])]);
      await advance();
      await expect.poll(() => nodesFigure('pdex_node_beacon_height')).toEqual(Array(3).fill(height + 2));
      await expect.poll(() => heads.answers.length).toBe(3);
      expect(heads.answers.map(({ errors }) => errors)).toEqual([undefined, undefined, undefined]);
      expect(heads.answers).toMatchObject(
        [height, height + 1, height + 2].map((beaconHeight) => ({ data: { head: { beaconHeight } } })),
      );
    },
  );
});

describe('three nodes', () => {
  test.each<[string, Fault, string]>([
    ['refuse connections', REFUSED, 'UPSTREAM_UNREACHABLE'],
    ['never answer', { kind: 'hang' }, 'UPSTREAM_TIMEOUT'],
  ])(
    'that all %s from the start: clients and operators see the same as with one node, until any of them recovers',
    async (_, fault, code) => {
      const { sandbox, ask, lines, hosts, readyStatus } = await openThreeNodes({
        config: configFor(fault),
        before: async (started) => {
          for (const which of [0, 1, 2]) await startOutage(started, which, fault);
        },
      });
      const { errors } = await ask('{ beaconHeight }');
      expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code, upstream: 'NODE' }]);
      expect(await readyStatus()).toBe(503);
      await expect.poll(() => lines.length).toBe(4);
      const all = expect.objectContaining({ level: WARN, msg: 'an upstream cannot be read', code });
      // All three are called at once, and may fail in any order.
      expect(lines.slice(0, 3)).toEqual(expect.arrayContaining(hosts.map((host) => broken(host, code))));
      expect(lines[3]).toEqual(all);

      await endOutage(sandbox, 2);
      await expect.poll(() => ask('{ beaconHeight }')).toEqual({ data: { beaconHeight: sandbox.chain.tip.height } });
      await expect.poll(() => lines.length).toBe(6);
      expect(lines.slice(4)).toEqual([
        recovered(hosts[2]),
        { level: INFO, msg: 'an upstream can be read again', upstream: 'NODE' },
      ]);
      await ask('{ pairs { id } tickers { id } }');
      expect(await readyStatus()).toBe(200);
    },
  );

  test('that all reset connections after good responses: the last height is served as stale, until one of them recovers', async () => {
    const { sandbox, ask, subscribe, untilHeight, readyStatus } = await openThreeNodes();
    const { height } = sandbox.chain.tip;
    const heads = keepEvents(subscribe(HEADS));
    await expect.poll(() => heads.answers.length).toBe(1);
    for (const which of [0, 1, 2]) await startOutage(sandbox, which, { kind: 'reset' });
    sandbox.advance(2);
    await expect.poll(async () => (await ask('{ service { head { stale } } }')).data.service.head.stale).toBe(true);
    const { data, errors } = await ask(STATE, { at: height - 9 });
    expect(data).toEqual({ beaconHeight: height, now: POOLS, earlier: null, service: { head: { stale: true } } });
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'UPSTREAM_UNREACHABLE', upstream: 'NODE' }]);
    expect(await readyStatus()).toBe(503);

    await endOutage(sandbox, 1);
    await untilHeight(height + 2);
    await expect.poll(() => heads.answers.length).toBe(2);
    expect(heads.answers).toMatchObject([
      { data: { head: { beaconHeight: height } } },
      { data: { head: { beaconHeight: height + 2, previousHeight: height } } },
    ]);
  });
});
