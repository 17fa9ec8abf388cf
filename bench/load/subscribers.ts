import { openSubscriber, type Subscriber } from './subscriber.ts';

/** Who subscribes. */
export type SubscribersWanted = {
  readonly port: number;
  readonly count: number;
  /** The operations as `payload` of a subscribe message, given to the subscribers in turn. */
  readonly operations: readonly unknown[];
};

/** How one update came to all. */
export type Receipt = {
  /** From `observedAt`, which every update tells, to the last receipt; the clock tells whole milliseconds there. */
  readonly ms: number;
  /** From the first receipt to the last. */
  readonly spreadMs: number;
  readonly bytes: number;
};

/** How many handshakes are under way at once: more would overflow the queue of a listening socket. */
const AT_ONCE = 100;
const WAITS_MS = 120_000;
const READ_BYTES = 2 ** 16;

/** Subscribers to one server, all in this process. */
export type Subscribers = {
  /** Resolves with the next update once all have got it. */
  receive(): Promise<Receipt>;
  /** What the first of them got last, as text. */
  sample(): string;
  end(): void;
};

/** Subscribes them all; resolves when each has got its first update. */
export async function openSubscribers({ port, count, operations }: SubscribersWanted): Promise<Subscribers> {
  const open: Subscriber[] = [];
  const buffer = Buffer.alloc(READ_BYTES);
  /** How many updates each has got. */
  const got = new Uint32Array(count);
  let round = 0;
  let receipts = { left: 0, first: 0, bytes: 0, observedAt: 0, resolve: (_: Receipt) => {}, reject: (_: Error) => {} };
  let lastUpdate = Buffer.alloc(0);
  let sample = '';
  let firstUpdate: (() => void) | undefined;
  let isBroken: string | undefined;

  const broken = (reason: string) => {
    isBroken ??= reason;
    receipts.reject(new Error(reason));
  };

  function heard(subscriber: number, text: Buffer): void {
    const now = performance.timeOrigin + performance.now();
    if (!text.equals(lastUpdate) && !isUpdate(text)) return;
    got[subscriber] = (got[subscriber] ?? 0) + 1;
    if (subscriber === 0) sample = String(text);
    if (got[subscriber] === 1) firstUpdate?.();
    else if (got[subscriber] === round) countReceipt(now, text);
  }

  /** Whether it is an update without errors. Most are the same bytes as the one before, and need not be looked at. */
  function isUpdate(text: Buffer): boolean {
    const isNext = text.indexOf('"type":"next"') >= 0;
    if (isNext && text.indexOf('"errors"') < 0) {
      lastUpdate = Buffer.from(text);
      return true;
    }
    if (isNext || text.indexOf('"type":"ping"') < 0) broken(String(text).slice(0, 1_000));
    return false;
  }

  function countReceipt(now: number, text: Buffer): void {
    if (receipts.first === 0) {
      receipts.first = now;
      receipts.observedAt = Date.parse(/"observedAt":"([^"]+)"/.exec(String(text))?.[1] ?? '');
    }
    receipts.left -= 1;
    receipts.bytes += text.length;
    if (receipts.left > 0) return;
    const { first, observedAt, bytes } = receipts;
    receipts.resolve({ ms: now - observedAt, spreadMs: now - first, bytes });
  }

  for (let start = 0; start < count; start += AT_ONCE) {
    const some = Math.min(AT_ONCE, count - start);
    let left = some;
    await within(
      new Promise<void>((resolve, reject) => {
        receipts.reject = reject;
        firstUpdate = () => {
          left -= 1;
          if (left === 0) resolve();
        };
        for (let index = start; index < start + some; index++) {
          const payload = operations[index % operations.length];
          const subscribe = JSON.stringify({ type: 'subscribe', id: '1', payload });
          const listener = { message: (text: Buffer) => heard(index, text), broken };
          open.push(openSubscriber({ port, subscribe, buffer, listener }));
        }
      }),
      `${left} subscribers got no first update`,
    );
  }
  round = 1;

  return {
    receive() {
      if (isBroken !== undefined) throw new Error(isBroken);
      round += 1;
      const received = new Promise<Receipt>((resolve, reject) => {
        receipts = { left: count, first: 0, bytes: 0, observedAt: 0, resolve, reject };
      });
      return within(received, 'an update did not come to all');
    },
    sample: () => sample,
    end() {
      for (const subscriber of open) subscriber.end();
    },
  };
}

function within<Value>(work: Promise<Value>, otherwise: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), WAITS_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
