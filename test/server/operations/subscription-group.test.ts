import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { createBroadcast, type Subscriber } from '../../../src/live/broadcast/broadcast.ts';
import { type EncodedUpdate, encodeUpdate } from '../../../src/server/operations/encoded-response.ts';
import { createSubscriptionGroup, type ExecutedUpdate } from '../../../src/server/operations/subscription-group.ts';
import { toAsyncValues } from '../../support/async-values.ts';

const END = { done: true, value: undefined };

/** A group whose values are numbers. Its updates contain their values, and end when the test says so. */
function createGroup({
  dependsOnPrevious = true,
  skipsEqualUpdates = false,
  identityOf = (value: unknown): unknown => value,
  areCurrent = (): boolean => true,
  resumesAfter = undefined as number | undefined,
  textOf = (value: unknown, previous: unknown): string => JSON.stringify({ value, previous: previous ?? null }),
} = {}) {
  const latest = createBroadcast<number>();
  const asked: { value: unknown; previous: unknown; made: PromiseWithResolvers<ExecutedUpdate> }[] = [];
  let handedOver = 0;
  let timesEmpty = 0;
  const { join } = createSubscriptionGroup({
    stream: { identityOf, dependsOnPrevious, skipsEqualUpdates, resumesAfter },
    execute(value, previous) {
      const made = Promise.withResolvers<ExecutedUpdate>();
      asked.push({ value, previous, made });
      return made.promise;
    },
    turn: () => Promise.resolve(),
    onSent: () => {
      handedOver += 1;
    },
    onEmpty: () => {
      timesEmpty += 1;
    },
    now: () => 0,
  });
  const group = { join: (subscriber: Subscriber<EncodedUpdate>) => join(subscriber, latest.subscribe) };
  const answer = () => {
    for (const { value, previous, made } of asked) {
      const result = new WrittenResult(textOf(value, previous));
      made.resolve({ update: encodeUpdate(result, undefined), areCurrent });
    }
    return asked.splice(0).map(({ value, previous }) => [value, previous]);
  };
  return { latest, group, asked, answer, handedOver: () => handedOver, timesEmpty: () => timesEmpty };
}

/** Waits until that many updates are requested. */
const untilAsked = (asked: readonly unknown[], count: number) => expect.poll(() => asked.length).toBe(count);

describe('one update is executed', () => {
  test('for all members that received the same before, and one for those that skipped a value', async () => {
    const { latest, group, asked, answer, handedOver } = createGroup();
    const members = Array.from({ length: 300 }, () => toAsyncValues(group.join));
    latest.publish(1);
    const first = members.map((member) => member.next());
    await untilAsked(asked, 1);
    expect(answer()).toEqual([[1, undefined]]);
    expect(new Set((await Promise.all(first)).map(({ value }) => value)).size).toBe(1);

    // Two of them skip a value.
    const [behind, inStep] = [members.slice(0, 2), members.slice(2)];
    latest.publish(2);
    const second = inStep.map((member) => member.next());
    await untilAsked(asked, 1);
    expect(answer()).toEqual([[2, 1]]);
    await Promise.all(second);
    latest.publish(3);
    const third = [...inStep, ...behind].map((member) => member.next());
    await untilAsked(asked, 2);
    expect(answer()).toEqual(
      expect.arrayContaining([
        [3, 2],
        [3, 1],
      ]),
    );
    const texts = (await Promise.all(third)).map(({ value }) => value?.toText());
    expect(texts.slice(-2)).toEqual(Array(2).fill('{"data":{"value":3,"previous":1}}'));
    expect(new Set(texts.slice(0, -2))).toEqual(new Set(['{"data":{"value":3,"previous":2}}']));
    expect(handedOver()).toBe(300 + 298 + 300);
    expect(latest.skippedValues()).toBe(2);
  });

  test('after an error as if that had not been sent', async () => {
    const { latest, group, asked, answer } = createGroup();
    const member = toAsyncValues(group.join);
    const unreadable = () => new Error('it cannot be read now') as never;
    for (const [value, previous] of [
      [unreadable(), undefined],
      [1, undefined],
      [unreadable(), 1],
      [2, 1],
    ] as const) {
      const update = member.next();
      latest.publish(value);
      await untilAsked(asked, 1);
      expect(answer()).toEqual([[value, previous]]);
      await update;
    }
  });

  test('and sent to a member only if it differs from the one before, where equal updates are skipped', async () => {
    // Each two values have the same update.
    const { latest, group, asked, answer, handedOver } = createGroup({
      dependsOnPrevious: false,
      skipsEqualUpdates: true,
      textOf: (value) => `{"half":${Math.floor(Number(value) / 2)}}`,
    });
    const [early, late] = [toAsyncValues(group.join), toAsyncValues(group.join)];
    const textsOf = async (...updates: ReturnType<typeof early.next>[]) =>
      (await Promise.all(updates)).map(({ value }) => value?.toText());
    latest.publish(2);
    const first = early.next();
    await untilAsked(asked, 1);
    answer();
    expect(await textsOf(first)).toEqual(['{"data":{"half":1}}']);

    const second = early.next();
    latest.publish(3);
    await untilAsked(asked, 1);
    answer();
    // A member that joins now has received no update yet.
    expect(await textsOf(late.next())).toEqual(['{"data":{"half":1}}']);
    latest.publish(4);
    await untilAsked(asked, 1);
    answer();
    expect(await textsOf(second, late.next())).toEqual(Array(2).fill('{"data":{"half":2}}'));
    expect(handedOver()).toBe(4);
  });

  test('for all members whose values are the same, also if they are not equal to each other', async () => {
    const identityOf = (value: unknown) => Math.floor(Number(value));
    const { latest, group, asked, answer } = createGroup({ dependsOnPrevious: false, identityOf });
    const [early, late] = [toAsyncValues(group.join), toAsyncValues(group.join)];
    latest.publish(1.1);
    const first = early.next();
    latest.publish(1.2);
    const second = late.next();
    await untilAsked(asked, 1);
    expect(answer()).toEqual([[1.1, undefined]]);
    expect((await first).value).toBe((await second).value);
  });

  test('for all members if it does not depend on the previous value', async () => {
    const { latest, group, asked, answer } = createGroup({ dependsOnPrevious: false });
    const [early, late] = [toAsyncValues(group.join), toAsyncValues(group.join)];
    latest.publish(1);
    const first = early.next();
    await untilAsked(asked, 1);
    answer();
    await first;
    latest.publish(2);
    const second = [early.next(), late.next()];
    await untilAsked(asked, 1);
    expect(answer()).toEqual([[2, undefined]]);
    const [one, other] = await Promise.all(second);
    expect(one?.value).toBe(other?.value);
  });

  test('and shared with later members only while it is current', async () => {
    let isTrue = true;
    const { latest, group, asked, answer } = createGroup({ areCurrent: () => isTrue });
    latest.publish(1);
    const first = toAsyncValues(group.join).next();
    await untilAsked(asked, 1);
    answer();
    const { value } = await first;
    expect((await toAsyncValues(group.join).next()).value).toBe(value);
    isTrue = false;
    const fresh = toAsyncValues(group.join).next();
    await untilAsked(asked, 1);
    answer();
    expect((await fresh).value).not.toBe(value);
  });

  test('for the values at which members resume, of which the last 32 are cached', async () => {
    const { latest, group, answer } = createGroup({ dependsOnPrevious: false, resumesAfter: 1 });
    /** How many updates are executed for a new member. */
    const join = async (value: number) => {
      latest.publish(value);
      const update = toAsyncValues(group.join).next();
      await nextTurn();
      const executed = answer().length;
      await update;
      return executed;
    };
    for (let value = 1; value <= 33; value++) expect(await join(value)).toBe(1);
    expect([await join(2), await join(1)]).toEqual([0, 1]);
  });

  test('for members that receive the same age at about the same time', async () => {
    const { latest, group, asked, answer } = createGroup({ dependsOnPrevious: false, areCurrent: () => false });
    const members = [toAsyncValues(group.join), toAsyncValues(group.join)];
    latest.publish(1);
    for (const member of members) {
      const first = member.next();
      await untilAsked(asked, 1);
      answer();
      await first;
    }
    latest.publish(2);
    const [one, other] = members.map((member) => member.next());
    await untilAsked(asked, 1);
    answer();
    expect((await one)?.value).toBe((await other)?.value);
  });
});

describe('a member', () => {
  test('that leaves during the execution gets nothing, and the others get the update', async () => {
    const { latest, group, asked, answer, handedOver, timesEmpty } = createGroup();
    const [leaver, stayer] = [toAsyncValues(group.join), toAsyncValues(group.join)];
    latest.publish(1);
    const [left, stayed] = [leaver.next(), stayer.next()];
    await untilAsked(asked, 1);
    expect(await leaver.return?.()).toEqual(END);
    answer();
    expect(await left).toEqual(END);
    expect((await stayed).value?.toText()).toBe('{"data":{"value":1,"previous":null}}');
    expect([handedOver(), latest.subscribers(), timesEmpty()]).toEqual([1, 1, 0]);
    await stayer.return?.();
    await stayer.return?.();
    expect([latest.subscribers(), timesEmpty()]).toEqual([0, 1]);
  });

  test('gets the error of a failed execution, as all that waited for it, and has left then', async () => {
    const { latest, group, asked, timesEmpty } = createGroup();
    const members = [toAsyncValues(group.join), toAsyncValues(group.join)];
    latest.publish(1);
    const failed = Promise.allSettled(members.map((member) => member.next()));
    await untilAsked(asked, 1);
    asked[0]?.made.reject(new Error('broken'));
    expect(await failed).toEqual(Array(2).fill({ status: 'rejected', reason: new Error('broken') }));
    expect([latest.subscribers(), timesEmpty()]).toEqual([0, 1]);
  });

  test('that needs the update of a failed execution later gets that of another one', async () => {
    const { latest, group, asked, answer } = createGroup();
    const [early, late] = [toAsyncValues(group.join), toAsyncValues(group.join)];
    latest.publish(1);
    const first = [early.next(), late.next()];
    await untilAsked(asked, 1);
    answer();
    await Promise.all(first);
    latest.publish(2);
    const failed = expect(early.next()).rejects.toThrow('broken');
    await untilAsked(asked, 1);
    asked.pop()?.made.reject(new Error('broken'));
    await failed;
    const update = late.next();
    await untilAsked(asked, 1);
    answer();
    expect((await update).value?.toText()).toBe('{"data":{"value":2,"previous":1}}');
  });
});
