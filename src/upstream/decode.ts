import { createByteList } from './byte-list.ts';
import { parseJson } from './json.ts';
import type { JsonMembers } from './json-members.ts';
import { createJsonSieve, type JsonSieveOptions } from './json-sieve.ts';
import type { WireObject } from './wire.ts';

/** Takes an answer in as it comes, and makes of it what it says. */
export type Reader<T> = {
  /**
   * Takes what it wants of a chunk, which is gone afterwards.
   *
   * @throws SyntaxError, Misfit or Excess as soon as it is clear that it cannot be read; nothing more is wanted then
   */
  write(chunk: Buffer): void;
  /** What the answer says, once it is whole. @throws SyntaxError, Misfit, UpstreamError */
  end(): T;
};

/** Makes the reader of a small document of so many bytes at the most: it is parsed whole, without loss. */
export function createDocumentReader<T>(maxBytes: number, read: (document: unknown) => T): Reader<T> {
  const bytes = createByteList(maxBytes);
  return {
    write: (chunk) => bytes.append(chunk, 0, chunk.length),
    end: () => read(parseJson(bytes.text())),
  };
}

/** What is wanted of a large document. */
export type Sieved = Omit<JsonSieveOptions, 'each'> & {
  readonly each?: Members | undefined;
  /** In its place: a list of which the values are given one by one. */
  readonly list?: Values | undefined;
};

/** What takes the values of a list, each as soon as it has come. */
export type Values = Pick<JsonMembers, 'name' | 'begin'> & { add(value: unknown): void };

/** What takes the members of an object, each as soon as it has come. */
export type Members = Pick<JsonMembers, 'name' | 'begin'> & {
  /**
   * Takes the member that begins there, `"key": value`, if it is the one that is expected and whole; any other is parsed.
   *
   * @returns the place behind it
   */
  addExpected(bytes: Buffer, from: number): number | undefined;
  add(key: string, value: unknown): void;
};

/** Makes the reader of a large document: what the sieve keeps, and each member that it gives, is parsed without loss. */
export function createSievedReader<T>({ each, list, ...sieved }: Sieved, read: (document: unknown) => T): Reader<T> {
  const taken = (each && takeMembers(each)) ?? (list && takeValues(list));
  const sieve = createJsonSieve({ ...sieved, each: taken });
  return { write: sieve.write, end: () => read(parseJson(sieve.end())) };
}

function takeValues({ name, begin, add }: Values): JsonMembers {
  return { name, isList: true, begin, take: (value) => add(parseJson(value.toString())) };
}

function takeMembers({ name, begin, addExpected, add }: Members): JsonMembers {
  return {
    name,
    isList: false,
    begin,
    takeExpected: addExpected,
    take(member) {
      for (const [key, value] of Object.entries(parseJson(`{${member.toString()}}`) as WireObject)) add(key, value);
    },
  };
}
