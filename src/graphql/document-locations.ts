import { type DocumentNode, type GraphQLError, type ParseOptions, parse, Source, type SourceLocation } from 'graphql';

/** The text of a document, and where its lines begin: read once, at the first error of the document. */
type Text = { readonly body: string; lineStarts?: readonly number[] };

const texts = new WeakMap<Source, Text>();

/**
 * Parses a document, and takes its text out of its source afterwards.
 *
 * Each `GraphQLError` counts the lines in front of its nodes: with the text there, an error at the end of a large document
 * takes milliseconds. So it finds no lines, and {@link locationsOf} finds them in an index that is made once.
 *
 * @throws GraphQLError
 */
export function parseDocument(text: string, options?: ParseOptions): DocumentNode {
  const source = new Source(text);
  const document = parse(source, options);
  texts.set(source, { body: text });
  Object.assign(source, { body: '' });
  return document;
}

/** The text that a document was parsed from; `undefined` for one that {@link parseDocument} did not make. */
export function textOf({ loc }: DocumentNode): string | undefined {
  return loc && texts.get(loc.source)?.body;
}

/** The lines and columns of an error, in the order of its nodes. */
export function locationsOf({ source, positions, locations }: GraphQLError): readonly SourceLocation[] | undefined {
  const text = source && texts.get(source);
  if (text === undefined || positions === undefined) return locations;
  text.lineStarts ??= findLineStarts(text.body);
  const { lineStarts } = text;
  return positions.map((position) => {
    const line = findLine(lineStarts, position);
    return { line, column: position + 1 - (lineStarts[line - 1] ?? 0) };
  });
}

/** The offsets at which the lines of a text begin, as GraphQL counts lines. */
function findLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (const { index, 0: lineBreak } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + lineBreak.length);
  return starts;
}

/** The number of the line that an offset is in, counted from 1, by halving. */
function findLine(lineStarts: readonly number[], offset: number): number {
  let low = 0;
  let high = lineStarts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
