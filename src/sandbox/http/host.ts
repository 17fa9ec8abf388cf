import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type AnyFault, createFaults, type Faults, joins } from '../faults.ts';
import { compress, deliver, spoil } from './deliver.ts';
import { type Address, listen, urlOf } from './listen.ts';
import { createRateLimits } from './rate-limit.ts';
import type { Answer, Wire } from './wire.ts';

/** A request as the host got it. */
export type RecordedRequest<Name extends string> = {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The first 4,096 characters. */
  readonly body: string;
  /** The call that was asked for; `undefined` for a request that is none. */
  readonly name: Name | undefined;
  /** The parameters as they were sent: those of the RPC call, or those of the query as an object. */
  readonly params: unknown;
  /** The address of the client. */
  readonly from: string;
  /** Unix milliseconds. */
  readonly at: number;
};

/** A host seen from a test: where it is, what it was asked, what goes wrong with it. */
export type HostControl<Fault, Name extends string> = {
  /** Without a slash at the end; the same after a stop and a start. */
  readonly url: string;
  readonly faults: Faults<Fault, Name>;
  /** How many requests arrived since the start or `resetCalls`: of one name, or of all kinds. */
  calls(name?: Name): number;
  /** The last 1,000 requests, the oldest first. */
  readonly requests: readonly RecordedRequest<Name>[];
  /** Forgets counts and requests. */
  resetCalls(): void;
  /** Listens again on the same port. */
  start(): Promise<void>;
  /** Breaks all connections and refuses new ones. */
  stop(): Promise<void>;
  openConnections(): number;
};

/** What distinguishes one host from another. */
type HostBehaviour<Fault, Name extends string> = {
  identify(method: string, path: string, body: string): { name: Name | undefined; params: unknown };
  /** Whether a fault that is aimed at a call would change anything about it. */
  fits(fault: Fault, call: RecordedRequest<Name>): boolean;
  /** The answer, given the faults that befall the call; `undefined` closes the connection without a byte. */
  answer(call: RecordedRequest<Name>, body: string, faults: readonly Fault[]): Answer | undefined;
  wire(request: IncomingMessage, response: ServerResponse): Wire;
  /** Whether a connection serves more than one request. */
  readonly keepsAlive: boolean;
  /** The answer to a request that finds more than `maxClients` under way. */
  readonly tooBusy?: { readonly maxClients: number; readonly answer: () => Answer };
};

const requestsKept = 1_000;
const bodyKept = 4_096;

/** Makes a host and has it listen. Rejects when the port is taken. */
export async function createHost<Fault extends AnyFault, Name extends string>(
  address: Address,
  behaviour: HostBehaviour<Fault, Name>,
): Promise<HostControl<Fault, Name>> {
  const faults = createFaults<Fault, Name>();
  const rateLimits = createRateLimits();
  const counts = new Map<Name, number>();
  const sockets = new Set<Socket>();
  const served = new WeakSet<Socket>();
  let requests: RecordedRequest<Name>[] = [];
  let total = 0;
  let clients = 0;
  let { port } = address;

  function record(request: IncomingMessage, body: string): RecordedRequest<Name> {
    const { method = '', url: path = '/', headers } = request;
    const from = request.socket.remoteAddress ?? '';
    const call = { method, path, headers, body: body.slice(0, bodyKept), from, at: Date.now() };
    const recorded = { ...call, ...behaviour.identify(method, path, body) };

    total += 1;
    if (recorded.name !== undefined) counts.set(recorded.name, (counts.get(recorded.name) ?? 0) + 1);
    requests.push(recorded);
    if (requests.length >= requestsKept * 2) requests = requests.slice(-requestsKept);
    return recorded;
  }

  async function serve(request: IncomingMessage, response: ServerResponse, crowded: boolean): Promise<void> {
    const body = await text(request);
    const call = record(request, body);
    const taken = faults.take(call.name, (fault) => behaviour.fits(fault, call));
    const wire = behaviour.wire(request, response);

    for (const fault of taken as readonly AnyFault[]) if (fault.kind === 'delay') await pause(fault.ms);
    const answer = crowded ? behaviour.tooBusy?.answer() : behaviour.answer(call, body, taken);
    if (!answer) return wire.hangUp();

    const fault = rateLimits.refusal(taken) ?? taken.find((candidate) => !joins(candidate));
    const spoilt = spoil(answer, fault, call);
    await deliver(
      wire,
      compress(spoilt, taken as readonly AnyFault[], String(request.headers['accept-encoding'])),
      fault,
    );
  }

  const server = createServer((request, response) => {
    if (!behaviour.keepsAlive && served.has(request.socket)) return;
    served.add(request.socket);
    clients += 1;
    response.once('close', () => {
      clients -= 1;
    });
    const crowded = clients > (behaviour.tooBusy?.maxClients ?? Number.POSITIVE_INFINITY);
    // A client that goes away while it sends is no concern of anyone.
    serve(request, response, crowded).catch(() => request.socket.destroy());
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  });

  async function start(): Promise<void> {
    port = await listen(server, { host: address.host, port });
  }
  await start();

  return {
    url: urlOf({ host: address.host, port }),
    faults,
    calls: (name) => (name === undefined ? total : (counts.get(name) ?? 0)),
    get requests() {
      return requests.slice(-requestsKept);
    },
    resetCalls() {
      requests = [];
      total = 0;
      counts.clear();
    },
    start: () => (server.listening ? Promise.resolve() : start()),
    stop() {
      if (!server.listening) return Promise.resolve();
      return new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
        sockets.clear();
      });
    },
    openConnections: () => sockets.size,
  };
}
