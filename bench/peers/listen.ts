import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tellReady } from '../tell.ts';

/** Listens on a free port of this machine, and says where. */
export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () => tellReady(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`));
}
