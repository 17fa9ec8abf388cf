import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { type AnyFault, createFaults, type Faults, isCombined } from '../faults.ts';
import { applyFault, compress, sendResponse } from './faulty-response.ts';
import { type Address, type Listener, startListener } from './listen.ts';
import { createRateLimits } from './rate-limit.ts';
import type { HostResponse, ResponseWriter } from './response-writer.ts';

/** A request that the host received. */
export type RecordedRequest<Name extends string> = {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The first 4,096 characters. */
  readonly body: string;
  /** The call; `undefined` if the host has no such call. */
  readonly name: Name | undefined;
  /** The parameters of the RPC call, or of the query string as an object. */
  readonly params: unknown;
  /** The address of the client. */
  readonly from: string;
  /** Unix milliseconds. */
  readonly at: number;
};

/** What tests see of a host: its URL, its faults, the requests that it received. */
export type HostControl<Fault, Name extends string> = Listener & {
  readonly faults: Faults<Fault, Name>;
  /** The number of requests since the start or `resetCalls`: of one call, or all of them. */
  calls(name?: Name): number;
  /** The last {@link MAX_RECORDED_REQUESTS} requests, the oldest first. */
  readonly requests: readonly RecordedRequest<Name>[];
  /** Clears the counts and the requests. */
  resetCalls(): void;
  openConnections(): number;
};

/** What differs between the hosts. */
type HostBehaviour<Fault, Name extends string> = {
  identify(method: string, path: string, body: string): { name: Name | undefined; params: unknown };
  /** Whether a fault would change anything about a call. */
  matches(fault: Fault, call: RecordedRequest<Name>): boolean;
  /** The response with these faults; `undefined` closes the connection without a byte. */
  respond(call: RecordedRequest<Name>, body: string, faults: readonly Fault[]): HostResponse | undefined;
  createWriter(request: IncomingMessage, response: ServerResponse): ResponseWriter;
  /** Whether a connection serves more than one request. */
  readonly keepsAlive: boolean;
  /** The response while more than `maxClients` requests are pending. */
  readonly tooBusy?: { readonly maxClients: number; readonly respond: () => HostResponse };
};

const MAX_RECORDED_REQUESTS = 1_000;
const MAX_RECORDED_BODY = 4_096;

/** Creates a host that listens. Rejects if the port is in use. */
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

  function record(request: IncomingMessage, body: string): RecordedRequest<Name> {
    const { method = '', url: path = '/', headers } = request;
    const from = request.socket.remoteAddress ?? '';
    const call = { method, path, headers, body: body.slice(0, MAX_RECORDED_BODY), from, at: Date.now() };
    const recorded = { ...call, ...behaviour.identify(method, path, body) };

    total += 1;
    if (recorded.name !== undefined) counts.set(recorded.name, (counts.get(recorded.name) ?? 0) + 1);
    requests.push(recorded);
    if (requests.length >= MAX_RECORDED_REQUESTS * 2) requests = requests.slice(-MAX_RECORDED_REQUESTS);
    return recorded;
  }

  async function serve(request: IncomingMessage, response: ServerResponse, crowded: boolean): Promise<void> {
    const body = await text(request);
    const call = record(request, body);
    const taken = faults.take(call.name, (fault) => behaviour.matches(fault, call));
    const writer = behaviour.createWriter(request, response);

    for (const fault of taken as readonly AnyFault[]) if (fault.kind === 'delay') await pause(fault.ms);
    const intact = crowded ? behaviour.tooBusy?.respond() : behaviour.respond(call, body, taken);
    if (!intact) return writer.close();

    const fault = rateLimits.refusal(taken) ?? taken.find((candidate) => !isCombined(candidate));
    const faulty = applyFault(intact, fault, call);
    await sendResponse(
      writer,
      compress(faulty, taken as readonly AnyFault[], String(request.headers['accept-encoding'])),
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
    // A client may disconnect while it sends the request.
    serve(request, response, crowded).catch(() => request.socket.destroy());
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  });

  const listener = await startListener(server, address, () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });

  return {
    ...listener,
    faults,
    calls: (name) => (name === undefined ? total : (counts.get(name) ?? 0)),
    get requests() {
      return requests.slice(-MAX_RECORDED_REQUESTS);
    },
    resetCalls() {
      requests = [];
      total = 0;
      counts.clear();
    },
    openConnections: () => sockets.size,
  };
}
