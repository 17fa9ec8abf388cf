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

/** Parses the text of a file. @throws Error with the line in which it stops to be JSON */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`the file is not JSON, see line ${lineOfError(json)}`, { cause: error });
  }
}

/** The line in which a text stops to be JSON; the last one of a text that ends early. V8 has the line of few errors only. */
function lineOfError(json: string): number {
  const ends = [...json.matchAll(/\n|$/g)].map(({ index }) => index + 1);
  let [line, last] = [0, ends.length - 1];
  while (line < last) {
    const middle = Math.floor((line + last) / 2);
    if (isBeginning(json.slice(0, ends[middle]))) line = middle + 1;
    else last = middle;
  }
  return line + 1;
}

/** Whether a text can be continued to JSON: the parser fails at its end, if at all. */
function isBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const { message } = error as Error;
    return message === 'Unexpected end of JSON input' || message.includes(` at position ${text.length} (`);
  }
}
