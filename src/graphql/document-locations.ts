import { type DocumentNode, type GraphQLError, type ParseOptions, parse, Source, type SourceLocation } from 'graphql';

/** The text of a document, and the offsets of its lines, which are computed when the document first has an error. */
type Text = { readonly body: string; lineStarts?: readonly number[] };

const texts = new WeakMap<Source, Text>();

/**
 * Parses a document, and removes the text from its source afterwards.
 *
 * Every `GraphQLError` counts the lines of the text before its nodes. At the end of a large document, that takes milliseconds
 * for each error. Without the text it counts nothing, and {@link locationsOf} uses an index of the lines.
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

/** The text of a document; `undefined` if {@link parseDocument} did not parse it. */
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

/** The offsets at which the lines of a text start, as GraphQL defines lines. */
function findLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (const { index, 0: lineBreak } of text.matchAll(/\r\n|\n|\r/g)) starts.push(index + lineBreak.length);
  return starts;
}

/** The number of the line that contains an offset, counted from 1, by binary search. */
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
