import {
  type DocumentNode,
  type GraphQLError,
  type ParseOptions,
  parse,
  Source,
  type SourceLocation,
  type Token,
} from 'graphql';
import { firstIndexWhere } from '../domain/binary-search.ts';

/**
 * The source of a document, with its text beside it and not in it.
 *
 * Each `GraphQLError` counts the lines before its nodes in the body of the source. At the end of a large document this takes
 * milliseconds. In an empty body it finds nothing, and {@link locationsOf} uses an index of lines that is made once.
 */
class DocumentSource extends Source {
  readonly text: string;
  lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    super(text);
    this.text = text;
  }
}

/** Parses a document. @throws GraphQLError */
export function parseDocument(text: string, options?: ParseOptions): DocumentNode {
  const source = new DocumentSource(text);
  const document = parse(source, options);
  Object.assign(source, { body: '' });
  return document;
}

/**
 * Unlinks the tokens of a document: each references the next one, also comments. A document of comments would keep fifty times its length
 * in memory for as long as it is used.
 */
export function unlinkTokens({ loc }: DocumentNode): void {
  let token: Token | null | undefined = loc?.startToken;
  while (token) {
    const { next }: Token = token;
    Object.assign(token, { prev: null, next: null });
    token = next;
  }
}

/** The text that a document was parsed from; `undefined` for a document that {@link parseDocument} did not parse. */
export function textOf({ loc }: DocumentNode): string | undefined {
  return loc?.source instanceof DocumentSource ? loc.source.text : undefined;
}

/** The lines and columns of an error, counted from 1, in the order of its nodes. */
export function locationsOf({ source, positions, locations }: GraphQLError): readonly SourceLocation[] | undefined {
  if (!(source instanceof DocumentSource) || positions === undefined) return locations;
  source.lineStarts ??= findLineStarts(source.text);
  const { lineStarts } = source;
  return positions.map((position) => {
    const line = firstIndexWhere(lineStarts.length, (index) => (lineStarts[index] ?? 0) > position);
    return { line, column: position + 1 - (lineStarts[line - 1] ?? 0) };
  });
}

/** The offsets at which the lines of a text begin, by GraphQL's definition of a line. */
function findLineStarts(text: string): readonly number[] {
  return [0, ...text.matchAll(/\r\n|\n|\r/g).map(({ index, 0: lineBreak }) => index + lineBreak.length)];
}
