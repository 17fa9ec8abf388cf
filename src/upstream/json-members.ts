import { createByteList } from './byte-list.ts';

/** What takes the members of an object, or of a list. */
export type JsonMembers = {
  readonly name: string;
  /** Which of the two it is where it is as it should be; else it is dropped. */
  readonly isList: boolean;
  /** It begins; it takes the place of one that came before. */
  begin(): void;
  /**
   * Takes the member that comes next from where it stands, if it is the one that is expected and stands there whole: then
   * nobody has to look for its end.
   *
   * @returns the place behind it; `undefined` where it is left as it is
   */
  takeExpected?(bytes: Buffer, from: number): number | undefined;
  /**
   * One of its members, `"key": value` or a value of a list, as UTF-8 in bytes that are reused: it is looked at for its end only.
   *
   * @throws SyntaxError for what is none
   */
  take(member: Buffer): void;
};

/** Cuts what comes between the brackets of an object, or of a list, into its members. */
export type MemberCutter = {
  begin(): void;
  /** Takes the next member where it stands, if none has begun yet. @returns where to go on from */
  takeExpected(chunk: Buffer, from: number): number;
  /** The member that is being read goes on with that part of a chunk. @throws Excess */
  append(chunk: Buffer, from: number, to: number): void;
  /** The member that is being read ends with that part of a chunk. @throws SyntaxError, Excess */
  take(chunk: Buffer, from: number, to: number, isLast: boolean): void;
};

/** A member is parsed at once, so it must not be long enough to hold up everyone else. */
const MAX_MEMBER_BYTES = 65_536;

const NOTHING = Buffer.alloc(0);

/** Makes the cutter for one document. */
export function createMemberCutter(each: JsonMembers): MemberCutter {
  const member = createByteList(MAX_MEMBER_BYTES);
  let memberCount = 0;
  /** Whether the member that is being read was taken as the one that was expected: only its comma is still to come. */
  let isTaken = false;

  /** Takes the next member where it stands, if none has begun yet. @returns where to go on from */
  function takeExpected(chunk: Buffer, from: number): number {
    if (isTaken || member.length() > 0) return from;
    const end = each.takeExpected?.(chunk, from);
    isTaken = end !== undefined;
    return end ?? from;
  }

  /** Ends the member that is being read. */
  function take(chunk: Buffer, from: number, to: number, isLast: boolean): void {
    const bytes = cutMember(chunk, from, to);
    const isBlank = bytes.every(isSpace);
    if (isBlank && !isTaken && isLast && memberCount === 0) return;
    if (isBlank !== isTaken) throw new SyntaxError(isBlank ? 'a comma too many' : 'no comma behind a member');
    if (!isTaken) takeBytes(bytes);
    isTaken = false;
    memberCount += 1;
  }

  /** What was read of a member, up to that place in the chunk. */
  function cutMember(chunk: Buffer, from: number, to: number): Buffer {
    if (from === to && member.length() === 0) return NOTHING;
    member.append(chunk, from, to);
    const bytes = member.view();
    member.clear();
    return bytes;
  }

  function takeBytes(bytes: Buffer): void {
    // It may be the one that is expected all the same, if it lay across two chunks.
    const end = each.takeExpected?.(bytes, 0);
    if (end === undefined) each.take(bytes);
    else if (!bytes.subarray(end).every(isSpace)) throw new SyntaxError('no comma behind a member');
  }

  return {
    begin() {
      memberCount = 0;
      each.begin();
    },
    takeExpected,
    append: member.append,
    take,
  };
}

/** Whether a byte is white space in JSON. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d && byte !== 0x0b && byte !== 0x0c);
}
