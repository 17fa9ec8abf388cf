import { once } from 'node:events';
import { connect as connectTcp, type Socket as TcpSocket } from 'node:net';
import { WebSocket } from 'ws';
import { fromItsAddress } from './address.ts';
import type { Answer, Question } from './judge.ts';
import type { Stage } from './stage.ts';
import type { Stream } from './streams/stream.ts';

/** How a peer goes: saying so, breaking the connection, closing its side of it, or without a sign of life any more. */
export type Departure = 'politely' | 'breaking off' | 'half-closing' | 'vanishing';

/** A websocket that speaks graphql-transport-ws, by hand so that it can also misbehave. */
type Socket = {
  /** Opens a subscription, whose updates are judged. @returns how to complete it */
  follow(stream: Stream): () => void;
  /** Asks, has the answer judged, and resolves when it has come or the connection is gone. */
  ask(question: Question): Promise<void>;
  isOpen(): boolean;
  /** Stops reading, and goes on. */
  pause(): void;
  resume(): void;
  leave(departure: Departure): void;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<unknown>;
};

type Message = { readonly type: string; readonly id?: string; readonly payload?: unknown };

/** A websocket as it comes, and what it is closed with at last. */
type BareSocket = { readonly socket: WebSocket; readonly tcp: TcpSocket; readonly closed: Promise<number> };

/** Opens a websocket on which nothing has been said; one that is not let in is closed. */
export async function openBareSocket({ url }: Stage, name: string): Promise<BareSocket> {
  const tcp = connectTcp(Number(url.port), url.hostname);
  const socket = new WebSocket(`ws://${url.host}${url.pathname}`, 'graphql-transport-ws', {
    createConnection: () => tcp,
    headers: fromItsAddress(name),
  });
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  await untilEvent(socket, 'open', closed);
  return { socket, tcp, closed };
}

/** Says who is there, and waits until the gateway has heard it. */
export async function introduce({ socket, closed }: BareSocket): Promise<void> {
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.send('{"type":"connection_init"}');
  await untilEvent(socket, 'message', closed);
}

function untilEvent(socket: WebSocket, event: string, closed: Promise<unknown>): Promise<unknown> {
  return Promise.race([once(socket, event), closed]).catch(() => closed);
}

/** Connects a client of that name; `undefined` where the gateway did not let it. */
export async function openSocket(stage: Stage, name: string): Promise<Socket | undefined> {
  const { judge, signal } = stage;
  const bare = await openBareSocket(stage, name);
  const { socket, tcp, closed } = bare;
  const asked = new Map<string, (answer: Answer) => void>();
  const streams = new Map<string, { readonly stream: Stream; readonly since: number }>();
  let isLeaving = false;
  let lastId = 0;

  socket.once('close', (code, reason) => {
    if (!isLeaving && !signal.aborted) judge.wrong(`a websocket was closed: of ${name}: ${code} ${reason}`);
  });
  await introduce(bare);
  if (socket.readyState !== WebSocket.OPEN) return undefined;
  socket.on('message', (text) => hear(JSON.parse(String(text)) as Message));

  function hear({ type, id = '', payload }: Message): void {
    const answered = asked.get(id);
    if (answered) {
      if (type === 'next') answered(payload as Answer);
      if (type === 'error') answered({ errors: payload as [] });
      return;
    }
    const known = streams.get(id);
    if (!known) return;
    const { stream, since } = known;
    if (type === 'next') {
      // An operation that fails at its start gives one answer without data, and is complete.
      if ((payload as Answer).data == null) streams.delete(id);
      take(stage, name, stream, payload as Answer);
    } else {
      streams.delete(id);
      if (type === 'error') judge.errors(name, stream.kind, payload as [], since);
      else judge.wrong(`a subscription ended: ${stream.kind} of ${name}`, { type, payload });
    }
  }

  return {
    closed,
    follow(stream) {
      lastId += 1;
      const id = String(lastId);
      streams.set(id, { stream, since: performance.now() });
      const { query, after } = stream;
      const variables = after === undefined ? stream.variables : { ...stream.variables, afterHeight: after };
      socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query, variables } }));
      return () => {
        streams.delete(id);
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'complete', id }));
      };
    },
    async ask(question) {
      const { query, variables } = question;
      const floor = stage.served.highest();
      const sentAt = performance.now();
      lastId += 1;
      const id = String(lastId);
      const answer = new Promise<Answer>((resolve) => asked.set(id, resolve));
      socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query, variables } }));
      const got = await Promise.race([answer, closed.then(() => undefined)]);
      asked.delete(id);
      if (got !== undefined) judge.answer(name, question, got, { sentAt, answeredAt: performance.now(), floor });
      else if (!isLeaving && !signal.aborted)
        judge.wrong(`no answer: ${question.kind} of ${name}: the websocket is gone`);
    },
    isOpen: () => socket.readyState === WebSocket.OPEN,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    leave(departure) {
      isLeaving = true;
      if (departure === 'politely') socket.close(1000);
      else if (departure === 'breaking off') socket.terminate();
      else if (departure === 'half-closing') tcp.end();
      else socket.pause();
    },
  };
}

/** Has an update judged, whichever way it came. */
export function take({ judge }: Stage, name: string, stream: Stream, { data, errors = [] }: Answer): void {
  if (errors.length > 0) judge.errors(name, stream.kind, errors, performance.now());
  if (data == null) return;
  const missed = stream.missed();
  judge.update(name, stream.kind, { data }, stream.take(data));
  if (stream.missed() > missed)
    judge.count(`heights missed, by ${name.replace(/ \d+$/, '')}`, stream.missed() - missed);
}
