import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { spreadOver } from './spread.ts';

/** The answers that are under way on an HTTP server, and the connections that they go out on. */
export type OpenAnswers = {
  readonly all: ReadonlySet<ServerResponse>;
  /** Counts an answer that begins. */
  opened(answer: ServerResponse): void;
  /** Forgets an answer that is closed: all of it has gone, or never will. */
  closed(answer: ServerResponse): void;
  /** Counts a connection, for as long as it is there. */
  connected(socket: Socket): void;
  /** Tells the clients of answers that have not begun to send nothing more on their connections. */
  sayLast(): void;
  /** Breaks off those that would never end by themselves, streams of events, spread over a time. */
  breakOffStreams(windowMs: number): Promise<void>;
  /** The connections on which nothing was ever asked: browsers open some in advance. */
  silent(): Socket[];
};

/** Makes what keeps track of the answers of a server. */
export function createOpenAnswers(): OpenAnswers {
  const answers = new Set<ServerResponse>();
  const connections = new Set<Socket>();

  return {
    all: answers,
    opened: (answer) => void answers.add(answer),
    closed: (answer) => void answers.delete(answer),
    connected(socket) {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    },
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
