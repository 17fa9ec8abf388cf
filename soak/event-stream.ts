import { request } from 'node:http';
import { fromItsAddress } from './address.ts';
import type { Answer } from './judge.ts';
import { take } from './socket.ts';
import type { Stage } from './stage.ts';
import type { Stream } from './streams/stream.ts';

/** A subscription over server-sent events. */
type EventStream = {
  isOpen(): boolean;
  /** Stops reading, for ever, without a sign. */
  vanish(): void;
  /** Breaks the connection. */
  leave(): void;
  readonly closed: Promise<void>;
};

/** Opens a subscription of a client of that name, whose updates are judged. */
export function openEventStream(stage: Stage, name: string, stream: Stream): EventStream {
  const { url, judge, signal } = stage;
  const since = performance.now();
  let isLeaving = false;
  let isOpen = true;
  let failed = false;

  function hear(answer: Answer): void {
    if (answer.data == null) {
      failed = true;
      judge.errors(name, stream.kind, answer.errors ?? [], since);
      return;
    }
    take(stage, name, stream, answer);
  }

  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...fromItsAddress(name),
    ...lastEvent(stream),
  };
  let hasVanished = false;
  let pauses = () => {};
  const asking = request(url, { method: 'POST', headers, agent: false }, (response) => {
    let text = '';
    let id: string | undefined;
    response.on('error', () => {});
    pauses = () => void response.pause();
    response.setEncoding('utf8').on('data', (chunk) => {
      const lines = `${text}${chunk}`.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data: {')) hear(JSON.parse(line.slice('data: '.length)));
        if (line.startsWith('id: ')) id = line.slice('id: '.length);
        // An event ends with an empty line, and its fields may come in any order.
        if (line !== '' || id === undefined) continue;
        if (id !== String(stream.height()))
          judge.wrong(`an event has the wrong id: ${stream.kind} of ${name} at ${stream.height()}: ${id}`);
        id = undefined;
      }
    });
    if (hasVanished) pauses();
  });
  asking.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    asking.once('close', () => {
      isOpen = false;
      if (!isLeaving && !failed && !signal.aborted) judge.wrong(`an event stream ended: ${stream.kind} of ${name}`);
      resolve();
    });
  });
  asking.end(JSON.stringify({ query: stream.query, variables: stream.variables }));

  return {
    isOpen: () => isOpen,
    vanish() {
      isLeaving = true;
      hasVanished = true;
      pauses();
    },
    leave() {
      isLeaving = true;
      asking.destroy();
    },
    closed,
  };
}

function lastEvent({ after }: Stream): Record<string, string> {
  return after === undefined ? {} : { 'last-event-id': String(after) };
}
