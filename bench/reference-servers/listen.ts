import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportReady } from '../process-control.ts';

/** Listens on a free port of this machine, and reports the URL. */
export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', () =>
    reportReady(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`),
  );
}
