import type { BlockPush, PushStatus } from './block-push.ts';

/** The subscription to the new blocks of one node, which can be turned on and off. */
export type SwitchedPush = BlockPush & {
  /** Subscribes, or unsubscribes and closes the socket. */
  turn(isOn: boolean): void;
};

const OFF: PushStatus = { isOpen: false, isFailing: false, frames: 0, reconnects: 0 };

/** Creates the subscription. @param start subscribes */
export function createSwitchedPush(name: string, start: () => BlockPush, isOn: boolean): SwitchedPush {
  let push = isOn ? start() : undefined;
  /** What was counted before it was last turned off. */
  let before = OFF;
  let closing = Promise.resolve();

  function status(): PushStatus {
    const { isOpen, isFailing, frames, reconnects } = push?.status() ?? OFF;
    return { isOpen, isFailing, frames: before.frames + frames, reconnects: before.reconnects + reconnects };
  }

  function turnOff(): void {
    if (push === undefined) return;
    const { frames, reconnects } = status();
    before = { ...OFF, frames, reconnects };
    closing = push.close();
    push = undefined;
  }

  return {
    name,
    status,
    turn(isOn) {
      if (isOn) push ??= start();
      else turnOff();
    },
    close() {
      turnOff();
      return closing;
    },
  };
}
