import { setTimeout as sleep } from 'node:timers/promises';
import { haveSameReason } from '../../errors.ts';
import { openPushSession, type PushedBlock, type PushSession, type PushSessionOptions } from './push-session.ts';

/** The subscription to the new blocks of one node: one websocket at a time, which is opened again when it ends. */
export type BlockPush = ReturnType<typeof createBlockPush>;

/** What a push needs, and what it reports. */
export type BlockPushOptions = Pick<PushSessionOptions, 'url' | 'headers' | 'timeoutMs' | 'proxies' | 'onBlock'> & {
  readonly name: string;
  /** The websocket has opened or closed. */
  onChange(isOpen: boolean): void;
  /** Is notified when the node cannot push, again if the reason changes, and of the first block at the start and after a failure. */
  readonly watcher: { failed(error: unknown): void; pushing(): void };
  readonly pingMs?: number;
  /** The first pause before the socket is opened again. */
  readonly firstPauseMs?: number;
};

/** Proxies close a socket that is silent for 60 s. */
const PING_MS = 20_000;

/** The pauses of the back-off double up to the longest. Each is up to this much longer, so that gateways do not come together. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5 * 60_000;
const JITTER = 0.25;

/** Starts to connect at once. */
export function createBlockPush(options: BlockPushOptions) {
  const { name, onChange, onBlock, watcher, pingMs = PING_MS, firstPauseMs = FIRST_PAUSE_MS } = options;
  const closing = new AbortController();
  let session: PushSession | undefined;
  let isOpen = false;
  /** Whether the watcher was notified of a failure or of a block last; `undefined` for neither. */
  let isFailing: boolean | undefined;
  let failure: unknown;
  let frames = 0;
  let reconnects = 0;
  /** Sessions that have ended since the last block. */
  let failures = 0;

  function setOpen(open: boolean): void {
    if (isOpen === open) return;
    isOpen = open;
    onChange(open);
  }

  function receive(block: PushedBlock): void {
    frames += 1;
    failures = 0;
    if (isFailing !== false) watcher.pushing();
    isFailing = false;
    failure = undefined;
    onBlock(block);
  }

  function fail(error: unknown): void {
    failures += 1;
    if (!haveSameReason(error, failure)) watcher.failed(error);
    failure = error;
    isFailing = true;
  }

  async function run({ signal }: AbortController): Promise<void> {
    while (!signal.aborted) {
      session = openPushSession({ ...options, pingMs, onOpen: () => setOpen(true), onBlock: receive });
      const error = await session.ended;
      setOpen(false);
      if (signal.aborted) return;
      fail(error);
      await sleep(pauseMs(failures - 1, firstPauseMs), undefined, { signal }).catch(() => {});
      if (!signal.aborted) reconnects += 1;
    }
  }

  const ended = run(closing);
  return {
    /** The name of the node in the log and the metrics. */
    name,
    /** How the websocket of the node is. */
    status: () => ({
      /** The websocket is open, and the node got the request to push. */
      isOpen: isOpen && !closing.signal.aborted,
      /** It could not be opened or has ended, and no block has come since. */
      isFailing: isFailing === true && !closing.signal.aborted,
      /** The frames of blocks since the start. */
      frames,
      /** How often the websocket was opened again since the start. */
      reconnects,
    }),
    /** Unsubscribes, and resolves when the socket is closed. It takes at most two seconds. */
    close(): Promise<void> {
      closing.abort();
      session?.leave();
      return ended;
    },
  };
}

/** The pause after a failure: up to five minutes, and twice as long for each one before it. @param failures those before it */
export function pauseMs(failures: number, firstMs: number): number {
  return Math.min(MAX_PAUSE_MS, firstMs * 2 ** failures * (1 + Math.random() * JITTER));
}
