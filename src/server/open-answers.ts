import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { spreadOver } from './spread.ts';

/** The answers that are under way on an HTTP server, and the connections that they go out on. */
export type OpenAnswers = {
  readonly all: ReadonlySet<ServerResponse>;
  /** Tells the clients of answers that have not begun to send nothing more on their connections. */
  sayLast(): void;
  /** Breaks off those that would never end by themselves, streams of events, spread over a time. */
  breakOffStreams(windowMs: number): Promise<void>;
  /** The connections on which nothing was ever asked: browsers open some in advance. */
  silent(): Socket[];
};

/** Keeps track of the answers of a server. */
export function trackAnswers(server: Server): OpenAnswers {
  const answers = new Set<ServerResponse>();
  server.on('request', (_request, response) => {
    answers.add(response);
    response.once('close', () => answers.delete(response));
  });
  const connections = new Set<Socket>();
  // One function for all of them: it is called on the one that closes.
  function forget(this: Socket): void {
    connections.delete(this);
  }
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.on('close', forget);
  });

  return {
    all: answers,
    sayLast() {
      for (const answer of answers) {
        if (!answer.headersSent) answer.setHeader('connection', 'close');
      }
    },
    breakOffStreams: (windowMs) =>
      spreadOver([...answers].filter(isEventStream), windowMs, (answer) => answer.destroy()),
    silent: () => [...connections].filter(({ bytesRead }) => bytesRead === 0),
  };
}

/** Whether an answer is a stream of events, which ends only when its reader goes. */
export function isEventStream(answer: ServerResponse): boolean {
  return String(answer.getHeader('content-type')).startsWith('text/event-stream');
}
