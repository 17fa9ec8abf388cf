import fc from 'fast-check';

/**
 * Any character of Unicode. fast-check's own unit `binary` first builds a table of all of them, which takes seconds.
 */
export const anyCharacter = fc
  .oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));
