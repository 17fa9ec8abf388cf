import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetPoll, PollRequest } from '../live/fleet-port.ts';
import { holding, LOCK_MS } from './lock.ts';
import type { PollContext, PollOptions } from './poll-options.ts';
import { LOOK, PUBLISH } from './poll-scripts.ts';
import { listOf, RedisUnavailableError } from './redis.ts';
import { encodeValue, readValues } from './values.ts';

/** Values are forgotten when no replica has polled for this time. */
const VALUES_TTL_MS = 3_600_000;

/** How long a gateway that starts waits for Redis. */
const START_MS = 500;

/** How long a replica that wants to read a block which was pushed keeps the others from it. */
const PUSHED_MS = 1_000;

/** A poll of a replica comes up to this part of the interval later, so that several do not poll at once. */
const JITTER = 0.1;

/** A replica whose upstream cannot be read, or is behind, leaves the reads to the others for this time, if they can. */
const STAND_BACK_MS = 15_000;

/** Number of intervals without a poll of any replica after which none can read the upstream. */
const INTERVALS_UNTIL_FAILING = 3;

/** A slot that is occupied for longer than this, and than three intervals, becomes free. */
const LONGEST_SLOT_MS = 15_000;

/** The longest wait for values that others have published, and how often it is checked whether it is over. */
const MAX_WAIT_MS = 2_000;
const CHECK_AGAIN_MS = 10;

/**
 * Creates the polls of one source. At each interval, each replica looks whether there is a newer value. If there is none, the one
 * that gets the slot reads the upstream and publishes what is new; the slot is then occupied until the interval is over. A value
 * is published only if nobody has published since its read began, so a replica that was paused cannot go back. Without Redis,
 * each replica reads alone.
 */
export function createPolls<T>(context: PollContext, options: PollOptions<T>): FleetPoll<T> {
  const { redis, clock, members, watcher } = context;
  const { name, keyPrefix, keep } = options;
  const { id: replica } = members;
  const keyOf = (part: string) => redis.fleetKey(`${keyPrefix}:${part}`);
  const [slot, versionKey, polledKey, valuesKey] = [keyOf('slot'), keyOf('version'), keyOf('polled'), keyOf('values')];
  const message = `${name} ${replica}`;
  let version = '';
  const started = redis.ready(START_MS);
  /** Whether another replica has published since the last poll began. */
  let isPublishedMeanwhile = false;
  let pollNow = (): boolean => false;
  /** When the upstream of this replica was behind what another one had published. */
  let behindAt = Number.NEGATIVE_INFINITY;
  let failure: { readonly error: unknown; readonly at: number } | undefined;
  /** The value of this gateway that Redis has too. */
  let published: T | undefined;
  /**
   * Whether all values that Redis has lost are sent, in one command. 32 heads can have 96 MB, which can take longer than its 500 ms: after
   * a failure, only the newest is sent.
   */
  let canSendAll = true;
  /** The run that waits for what others have published, and the one after it. */
  let currentRun = Promise.resolve();
  let next: Promise<void> | undefined;
  /** When any replica polled last, by the clock of this gateway, and as it is in Redis. */
  let polledAt = Number.NEGATIVE_INFINITY;
  let polledText = '';

  redis.onMessage((received) => {
    if (received.startsWith(`${name} `) && received !== message) pollPublished();
  });

  /** Polls now, or at once after the poll in progress. */
  function pollPublished(): void {
    isPublishedMeanwhile = !pollNow();
  }

  const isOverdue = (idleMs: number) => performance.now() - polledAt > INTERVALS_UNTIL_FAILING * idleMs;

  /** @throws Error if Redis cannot be used */
  async function look(wants: boolean, { idleMs, pushed }: PollRequest<T>) {
    const flags = [wants, pushed !== undefined].map((flag) => (flag ? '1' : '0'));
    const keys: [string, ...string[]] = [slot, versionKey, polledKey, keyOf(`pushed:${pushed ?? ''}`)];
    const longestMs = Math.ceil(Math.max(LONGEST_SLOT_MS, INTERVALS_UNTIL_FAILING * idleMs));
    const times = [LOCK_MS, PUSHED_MS, longestMs].map(String);
    const reply = await redis.run(LOOK, keys, [replica, version, ...flags, ...times]);
    const [now, isTaken, newest, polled] = listOf(reply);
    clock.observe(Number(String(now)));
    // The same poll stays at the same time, also if the clock of Redis is set since.
    if (String(polled) !== polledText) {
      polledText = String(polled);
      const at = Number.parseFloat(polledText);
      polledAt = Number.isNaN(at) ? Number.NEGATIVE_INFINITY : clock.toLocal(at);
    }
    return { isTaken: isTaken === 1, version: String(newest) };
  }

  /**
   * Whether this replica should read. While its own upstream fails or is behind, it leaves the read to others, unless none of them reads.
   * A block that its node pushed shows that it is no longer behind.
   */
  function wantsSlot({ idleMs, pushed }: PollRequest<T>): boolean {
    if (members.count() <= 1 || isOverdue(idleMs)) return true;
    const standsBack = (since: number) => performance.now() - since <= STAND_BACK_MS;
    return (failure === undefined || !standsBack(failure.at)) && (pushed !== undefined || !standsBack(behindAt));
  }

  /** The newest value from a rank on, and whether Redis has none there, or only damaged ones. @throws Error if Redis cannot be used */
  async function receive(previous: T | undefined): Promise<{ newer: T | undefined; isEmpty: boolean }> {
    const from = previous && options.rankOf(previous);
    const values = await readValues(context, name, valuesKey, from);
    try {
      return { newer: await options.unpack(values, previous), isEmpty: values.length === 0 };
    } catch (error) {
      if (error instanceof RedisUnavailableError) throw error;
      // They are of another version of the gateway. The next read replaces them: if this one did now, two versions would do so in turn.
      watcher.damaged(name);
      return { newer: undefined, isEmpty: false };
    }
  }

  /**
   * Publishes values, or only that a poll found nothing new.
   *
   * @param known the version that Redis had
   * @returns whether nobody else has published since @throws Error if Redis cannot be used
   */
  async function publish(known: string, newest: T, values: readonly T[], idleMs: number): Promise<boolean> {
    const entries: (string | Buffer)[] = [];
    for (const value of values) {
      const bytes = encodeValue(await options.pack(value));
      watcher.moved(name, 'out', bytes.length);
      entries.push(String(options.rankOf(value)), bytes);
    }
    const at = clock.toRedis(performance.now());
    const nextVersion = randomUUID();
    const times = [Math.ceil(idleMs), keep, VALUES_TTL_MS].map(String);
    const terms = [replica, known, nextVersion, ...times, redis.channel, message, String(at), ...entries];
    canSendAll &&= values.length <= 1;
    const reply = await redis.run(PUBLISH, [slot, versionKey, polledKey, valuesKey], terms);
    canSendAll = true;
    if (reply !== 1) return false;
    published = newest;
    version = entries.length === 0 ? known : nextVersion;
    return true;
  }

  /** Takes what others have published, or publishes again what Redis has lost. @throws Error if Redis cannot be used */
  async function catchUp(newest: string, request: PollRequest<T>): Promise<T | undefined> {
    const { previous, remembered, remember, idleMs } = request;
    if (version === '' && previous !== undefined) {
      const { newer: all } = await receive(undefined);
      if (all !== undefined)
        remember?.(options.all(all, undefined).filter((value) => options.rankOf(value) < options.rankOf(previous)));
    }
    // If nobody has published, what this replica has read alone is newer, whatever the clock of Redis says.
    const isAhead = version !== '' && newest === version && previous !== undefined;
    const { newer, isEmpty } = await (isAhead ? { newer: undefined, isEmpty: true } : receive(previous));
    const isLost = newer === undefined && (isEmpty || newest === '');
    const lost = canSendAll ? remembered.slice(-keep) : remembered.slice(-1);
    if (isLost && previous !== undefined) await publish(newest, previous, lost, idleMs);
    else {
      version = newest;
      published = newer ?? previous;
    }
    return newer ?? previous;
  }

  async function readForAll(request: PollRequest<T>): Promise<T | undefined> {
    const { previous, idleMs, read } = request;
    const value = await holding(redis, { key: slot, token: replica }, () => read(previous));
    const isBehind = value === previous && options.isBehind?.(value) === true;
    if (isBehind) behindAt = performance.now();
    try {
      // The slot of a replica that is behind is free at once: another one may have what is new.
      if (await publish(version, value, options.all(value, previous), isBehind ? 1 : idleMs)) return value;
      // Another replica has published since, while this one was slow or paused: what it has read may be older.
      return await catchUp((await look(false, request)).version, request);
    } catch {
      return value;
    }
  }

  /** @returns `undefined` if Redis cannot be used */
  async function tryLook(request: PollRequest<T>) {
    await started;
    if (!members.takesPart()) return undefined;
    // A value that Redis may not have is published first.
    const wants = request.previous === published && wantsSlot(request);
    return look(wants, request).catch(() => undefined);
  }

  async function poll(request: PollRequest<T>): Promise<T | undefined> {
    const { previous, idleMs, read } = request;
    isPublishedMeanwhile = false;
    const found = await tryLook(request);
    if (found === undefined) {
      watcher.ended(name, 'alone');
      return attempt(() => read(previous));
    }
    if (found.version !== version || previous !== published) {
      watcher.ended(name, 'hit');
      return catchUp(found.version, request).catch(() => previous);
    }
    if (found.isTaken) {
      watcher.ended(name, 'read');
      return attempt(() => readForAll(request));
    }
    if (failure !== undefined && failure.at > polledAt && isOverdue(idleMs)) throw failure.error;
    published = previous && (options.polledAgain?.(previous, polledAt) ?? previous);
    return published;
  }

  async function attempt(work: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      const value = await work();
      failure = undefined;
      return value;
    } catch (error) {
      failure = { error, at: performance.now() };
      throw error;
    }
  }

  /** Polls until this gateway knows the version that Redis has. */
  async function catchUpWithOthers(): Promise<void> {
    await started;
    const until = performance.now() + MAX_WAIT_MS;
    while (performance.now() < until) {
      if (!members.takesPart()) return;
      const newest = await redis.command(versionKey, 'GET', versionKey).catch(() => undefined);
      if (newest !== undefined && String(newest ?? '') === version) return;
      pollPublished();
      await sleep(CHECK_AGAIN_MS);
    }
  }

  return {
    poll,
    intervalMs: (usualMs) => (isPublishedMeanwhile && members.takesPart() ? 0 : usualMs * (1 + JITTER * Math.random())),
    onPublished(poll) {
      pollNow = poll;
    },
    async untilCurrent() {
      // All who wait for the run in progress share the next one, which begins after their calls.
      next ??= currentRun.then(() => {
        next = undefined;
        currentRun = catchUpWithOthers();
        return currentRun;
      });
      return next;
    },
  };
}
