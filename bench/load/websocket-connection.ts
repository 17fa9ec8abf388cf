import type { Connection, ResponseInfo } from './connection.ts';
import { openWebSocket } from './websocket.ts';

const NEXT = '"type":"next"';
const COMPLETE = '"type":"complete"';
const ERRORS = '"errors"';

/**
 * Opens a websocket to a port of this machine, on which queries are sent one after another. `onBroken` is called when it ends
 * before `end` is called. A response has arrived with its `complete` message.
 */
export function openWebSocketConnection(port: number, buffer: Buffer, onBroken: (reason: string) => void): Connection {
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  let onResponse: ((response: ResponseInfo) => void) | undefined;
  let hasResult = false;
  let isError = false;

  function onMessage(text: Buffer): void {
    if (text.indexOf(NEXT) >= 0) {
      hasResult = true;
      isError = text.indexOf(ERRORS) >= 0;
    } else if (text.indexOf(COMPLETE) >= 0) {
      const callback = onResponse;
      onResponse = undefined;
      callback?.({ status: 200, isError: isError || !hasResult });
    } else if (text.indexOf('"type":"ping"') < 0) onBroken(String(text).slice(0, 1_000));
  }

  const socket = openWebSocket(port, buffer, { onOpen: resolve, onMessage, onBroken });
  return {
    opened,
    send(request, callback) {
      onResponse = callback;
      hasResult = false;
      isError = false;
      socket.send(request);
    },
    end: socket.end,
  };
}
