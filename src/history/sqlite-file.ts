import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** Marks a file of SQLite as a history of the gateway: "PDEX" in ASCII. */
export const APPLICATION_ID = 0x50444558;

/** Bytes of a file of SQLite, up to the id of the application. */
const HEADER_BYTES = 72;
const APPLICATION_ID_OFFSET = 68;

/** Whether a file can be the database of a history: it is one, is empty, or does not exist. */
export function canBeHistory(path: string): boolean {
  const header = Buffer.alloc(HEADER_BYTES);
  if (readHeader(path, header) === 0) return true;
  const isSqlite = header.toString('latin1', 0, 16) === 'SQLite format 3\0';
  return isSqlite && header.readUInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID;
}

function readHeader(path: string, header: Buffer): number {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return 0;
  const file = openSync(path, 'r');
  try {
    return readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
}
