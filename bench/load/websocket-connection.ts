import type { Answered, Connection } from './connection.ts';
import { openWebSocket } from './websocket.ts';

const NEXT = '"type":"next"';
const COMPLETE = '"type":"complete"';
const ERRORS = '"errors"';

/**
 * Opens a websocket to a port of this machine, over which queries are sent one after another; `broken` is called when it
 * ends without having been told to. An answer has arrived with its `complete` message.
 */
export function openWebSocketConnection(port: number, buffer: Buffer, broken: (reason: string) => void): Connection {
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  let answered: ((answer: Answered) => void) | undefined;
  let bytes = 0;
  let isError = false;

  function message(text: Buffer): void {
    if (text.indexOf(NEXT) >= 0) {
      bytes = text.length;
      isError = text.indexOf(ERRORS) >= 0;
    } else if (text.indexOf(COMPLETE) >= 0) {
      const callback = answered;
      answered = undefined;
      callback?.({ status: 200, bytes, isError: isError || bytes === 0 });
    } else if (text.indexOf('"type":"ping"') < 0) broken(String(text).slice(0, 1_000));
  }

  const socket = openWebSocket(port, buffer, { opened: resolve, message, broken });
  return {
    opened,
    send(request, whenAnswered) {
      answered = whenAnswered;
      bytes = 0;
      isError = false;
      socket.send(request);
    },
    end: socket.end,
  };
}
