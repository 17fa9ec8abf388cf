import { writev, writevSync } from 'node:fs';

/** A stream for pino. */
type LogOutput = {
  write(line: string): void;
  /** Writes the lines that wait, as far as they can be written within half a second. */
  flushSync(): void;
};

/** Maximum size of the lines that wait while the disk is full, or while a collector does not read. Further lines are lost. */
const MAX_WAITING_BYTES = 16 * 2 ** 20;

/** So that little is lost if the process ends during a write. */
const MAX_LINES_PER_WRITE = 100;

/** How long a process that ends waits for a collector that does not read. */
const MAX_FLUSH_MS = 500;
const RETRY_MS = 50;

/**
 * Creates pino's stream to stdout. A line that cannot be written, such as to a file on a full disk, waits until a later one can be
 * written: it does not end the process. When the process ends, such lines are lost. pino's own stream repeats a synchronous write
 * until it succeeds, so that a process could not exit while the disk is full.
 *
 * @param fd the file; stdout by default
 */
export function createLogOutput(fd: number = process.stdout.fd, maxBytes = MAX_WAITING_BYTES): LogOutput {
  const lines: Buffer[] = [];
  let bytes = 0;
  /** The number of lines that are being written. */
  let writing = 0;
  let retry: NodeJS.Timeout | undefined;

  function begin(): void {
    if (writing > 0 || retry !== undefined || lines.length === 0) return;
    const batch = lines.slice(0, MAX_LINES_PER_WRITE);
    writing = batch.length;
    writev(fd, batch, (error, written) => {
      writing = 0;
      if (!error) {
        bytes -= written;
        removeWritten(lines, written);
        begin();
      } else if (isFullPipe(error)) {
        retry = setTimeout(() => {
          retry = undefined;
          begin();
        }, RETRY_MS).unref();
      }
    });
  }

  function flushSync(): void {
    const rest = lines.splice(writing);
    const until = performance.now() + MAX_FLUSH_MS;
    while (rest.length > 0) {
      try {
        const written = writevSync(fd, rest.slice(0, MAX_LINES_PER_WRITE));
        bytes -= written;
        removeWritten(rest, written);
      } catch (error) {
        if (!isFullPipe(error) || performance.now() > until) break;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
    for (const line of rest) lines.push(line);
  }

  return {
    write(line) {
      const added = Buffer.from(line);
      if (bytes + added.length <= maxBytes) {
        lines.push(added);
        bytes += added.length;
      }
      begin();
    },
    flushSync,
  };
}

/** Removes the bytes that were written from the beginning of lines. */
function removeWritten(lines: Buffer[], written: number): void {
  let count = 0;
  let left = written;
  for (let line = lines[0]; line !== undefined && left >= line.length; line = lines[count]) {
    left -= line.length;
    count += 1;
  }
  lines.splice(0, count);
  const [first] = lines;
  if (first !== undefined && left > 0) lines[0] = first.subarray(left);
}

/** Whether nobody has read what is in a pipe. */
function isFullPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}
