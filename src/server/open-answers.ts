import type { Server, ServerResponse } from 'node:http';

/** The answers that are under way on an HTTP server. */
export type OpenAnswers = {
  /** Breaks off those that would never end by themselves: streams of events. */
  breakOffStreams(): void;
};

/** Keeps track of the answers of a server. */
export function trackAnswers(server: Server): OpenAnswers {
  const answers = new Set<ServerResponse>();
  server.on('request', (_request, response) => {
    answers.add(response);
    response.once('close', () => answers.delete(response));
  });

  return {
    breakOffStreams() {
      for (const answer of answers) {
        if (isEventStream(answer)) answer.destroy();
      }
    },
  };
}

/** Whether an answer is a stream of events, which ends only when its reader goes. */
export function isEventStream(answer: ServerResponse): boolean {
  return String(answer.getHeader('content-type')).startsWith('text/event-stream');
}
