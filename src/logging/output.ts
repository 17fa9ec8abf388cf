import pino from 'pino';

/** Maximum size of the lines that wait while the disk is full, or while a collector does not read. Further lines are lost. */
const MAX_WAITING_BYTES = 16 * 2 ** 20;

/** How long a process that ends waits for a collector that does not read. */
const MAX_FLUSH_MS = 500;

/**
 * Creates pino's stream to stdout. A line that cannot be written, such as to a file on a full disk, waits until a later one can be
 * written: it does not end the process. When the process ends, such lines are lost.
 *
 * @param fd the file; stdout by default
 */
export function createLogOutput(
  fd: number = process.stdout.fd,
  maxLength = MAX_WAITING_BYTES,
): ReturnType<typeof pino.destination> {
  let flushesUntil = Number.POSITIVE_INFINITY;
  const output = pino.destination({ dest: fd, maxLength, retryEAGAIN: () => performance.now() < flushesUntil });
  const flushSync = output.flushSync.bind(output);
  let isFailing = false;
  output.on('error', () => {
    isFailing = true;
  });
  output.on('write', () => {
    isFailing = false;
  });
  // A lost line causes no write. Without another write, all further lines would be lost too.
  output.on('drop', () => output.write(''));
  // A synchronous write is repeated until it succeeds: the process could not exit.
  output.flushSync = () => {
    if (isFailing) return;
    flushesUntil = performance.now() + MAX_FLUSH_MS;
    try {
      flushSync();
    } catch {
      // Nobody reads: the lines wait, as those of a full disk.
    }
    flushesUntil = Number.POSITIVE_INFINITY;
  };
  return output;
}
