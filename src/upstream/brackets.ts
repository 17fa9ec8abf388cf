import { Excess } from './wire.ts';

/** The brackets of a document that are open at a place. */
export type Brackets = {
  /** How many are open. */
  depth(): number;
  /** Whether there was one, and the outermost is closed again. */
  areClosed(): boolean;
  /** @throws Excess for more inside each other than any answer has */
  open(opener: number): void;
  /** @throws SyntaxError for one that does not close the innermost */
  close(closer: number): void;
};

const MAX_DEPTH = 1_000;

/** Makes the brackets of one document. */
export function createBrackets(): Brackets {
  const openers = new Uint8Array(MAX_DEPTH);
  let depth = 0;
  let areClosed = false;

  return {
    depth: () => depth,
    areClosed: () => areClosed,
    open(opener) {
      if (depth === MAX_DEPTH) throw new Excess(`${MAX_DEPTH} levels of nesting`);
      openers[depth++] = opener;
    },
    close(closer) {
      // In ASCII, each opener is two before its closer.
      if (depth === 0 || openers[depth - 1] !== closer - 2) throw new SyntaxError('a bracket that does not match');
      depth -= 1;
      areClosed = depth === 0;
    },
  };
}

/** Whether a byte is `[` or `{`, which differ in one bit. */
export function isOpener(byte: number): boolean {
  return (byte | 0x20) === 0x7b;
}

/** Whether a byte is `]` or `}`, which differ in one bit. */
export function isCloser(byte: number): boolean {
  return (byte | 0x20) === 0x7d;
}
