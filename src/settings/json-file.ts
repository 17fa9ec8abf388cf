import { readFileSync } from 'node:fs';
import { getSystemErrorMessage } from 'node:util';

/** Removes a byte order mark. */
const UTF_8 = new TextDecoder();

/** Reads a file of settings, or one that a setting names. @throws Error with the reason of the system, or if it is in UTF-16 */
export function readTextFile(path: string): string {
  const bytes = readBytes(path);
  // UTF-16 begins with a byte order mark, or its first ASCII character has a zero byte.
  if (/^(\xff\xfe|\xfe\xff|.?\0)/s.test(bytes.toString('latin1', 0, 2)))
    throw new Error('the file is in UTF-16, expected UTF-8');
  return UTF_8.decode(bytes);
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException;
    const reason = errno === undefined ? message : getSystemErrorMessage(errno);
    throw new Error(`the file cannot be read: ${reason}`, { cause: error });
  }
}

/** Parses the text of a file. @throws Error with the reason and the place, in the words of the JavaScript engine */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`the file is not JSON: ${(error as Error).message}`, { cause: error });
  }
}
