import { type ClientWebSocket, openWebSocket, textFrame } from './websocket.ts';

/** A load of subscribers. */
export type SubscriberLoad = {
  readonly port: number;
  readonly count: number;
  /** The operations as `payload` of a subscribe message, which the subscribers use in turn. */
  readonly operations: readonly unknown[];
};

/** The receipt of one update by all subscribers. */
export type UpdateReceipt = {
  /** From the publication, `observedAt` of the update in whole milliseconds, to the last receipt. */
  readonly ms: number;
};

/** Maximum number of concurrent handshakes: more would overflow the backlog of a listening socket. */
const HANDSHAKES_AT_ONCE = 100;
const TIMEOUT_MS = 120_000;
const READ_BYTES = 2 ** 16;

/** The subscribers of one server, all in this process. */
export type Subscribers = {
  /** Resolves when all have received the next update. */
  receive(): Promise<UpdateReceipt>;
  /** The text of the last update that the first subscriber received. */
  sample(): string;
  end(): void;
};

/** Opens subscribers. Resolves when each has received its first update. */
export async function openSubscribers({ port, count, operations }: SubscriberLoad): Promise<Subscribers> {
  const sockets: ClientWebSocket[] = [];
  const buffer = Buffer.alloc(READ_BYTES);
  /** How many updates each has received. */
  const received = new Uint32Array(count);
  let round = 0;
  let receipts = { missing: 0, observedAt: 0, resolve: (_: UpdateReceipt) => {}, reject: (_: Error) => {} };
  let lastUpdate = Buffer.alloc(0);
  let sample = '';
  let onFirstUpdate: (() => void) | undefined;
  let failure: string | undefined;

  const onBroken = (reason: string) => {
    failure ??= reason;
    receipts.reject(new Error(reason));
  };

  function onMessage(subscriber: number, text: Buffer): void {
    const now = performance.timeOrigin + performance.now();
    if (!text.equals(lastUpdate) && !isUpdate(text)) return;
    received[subscriber] = (received[subscriber] ?? 0) + 1;
    if (subscriber === 0) sample = String(text);
    if (received[subscriber] === 1) onFirstUpdate?.();
    else if (received[subscriber] === round) countReceipt(now, text);
  }

  /** Whether a message is an update without errors. Most have the same bytes as the previous one, and are not parsed. */
  function isUpdate(text: Buffer): boolean {
    const isNext = text.indexOf('"type":"next"') >= 0;
    if (isNext && text.indexOf('"errors"') < 0) {
      lastUpdate = Buffer.from(text);
      return true;
    }
    if (isNext || text.indexOf('"type":"ping"') < 0) onBroken(String(text).slice(0, 1_000));
    return false;
  }

  function countReceipt(now: number, text: Buffer): void {
    if (receipts.missing === count)
      receipts.observedAt = Date.parse(/"observedAt":"([^"]+)"/.exec(String(text))?.[1] ?? '');
    receipts.missing -= 1;
    if (receipts.missing === 0) receipts.resolve({ ms: now - receipts.observedAt });
  }

  for (let start = 0; start < count; start += HANDSHAKES_AT_ONCE) {
    const some = Math.min(HANDSHAKES_AT_ONCE, count - start);
    let missing = some;
    await withTimeout(
      new Promise<void>((resolve, reject) => {
        receipts.reject = reject;
        onFirstUpdate = () => {
          missing -= 1;
          if (missing === 0) resolve();
        };
        for (let index = start; index < start + some; index++) {
          const payload = operations[index % operations.length];
          const subscribe = textFrame(JSON.stringify({ type: 'subscribe', id: '1', payload }));
          const socket = openWebSocket(port, buffer, {
            onOpen: () => socket.send(subscribe),
            onMessage: (text: Buffer) => onMessage(index, text),
            onBroken,
          });
          sockets.push(socket);
        }
      }),
      () => `${missing} subscribers received no first update`,
    );
  }
  round = 1;

  return {
    receive() {
      if (failure !== undefined) throw new Error(failure);
      round += 1;
      const receipt = new Promise<UpdateReceipt>((resolve, reject) => {
        receipts = { missing: count, observedAt: 0, resolve, reject };
      });
      return withTimeout(receipt, () => `${receipts.missing} subscribers did not receive an update`);
    },
    sample: () => sample,
    end() {
      for (const socket of sockets) socket.end();
    },
  };
}

function withTimeout<Value>(work: Promise<Value>, reason: () => string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(reason())), TIMEOUT_MS);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
