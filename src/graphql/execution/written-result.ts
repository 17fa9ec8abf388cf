import type { GraphQLError } from 'graphql';

/**
 * JSON as text, or in pieces if it is long. Long pieces are bytes already. V8 stores a string that was written piece by piece
 * as a tree. Copying a large tree into one string and then into bytes would block the event loop and take three times the memory.
 */
export type JsonText = string | readonly (string | Buffer)[];

/** Minimum length of a string that becomes a piece of bytes, in characters. */
const MIN_PIECE_LENGTH = 65_536;

/** A part of a response to which nothing is added: as bytes if it is long. */
export function finishText(json: JsonText): JsonText {
  return typeof json === 'string' && json.length >= MIN_PIECE_LENGTH ? [Buffer.from(json)] : json;
}

/** The texts, one after another. */
export function concatTexts(texts: readonly JsonText[]): JsonText {
  let pieces: (string | Buffer)[] | undefined;
  let last = '';
  for (const text of texts) {
    if (typeof text === 'string') {
      last += text;
      continue;
    }
    pieces ??= [];
    if (last !== '') pieces.push(last);
    for (const piece of text) pieces.push(piece);
    last = '';
  }
  if (pieces !== undefined && last !== '') pieces.push(last);
  return pieces ?? last;
}

/** The text as a string. @throws RangeError if it is too long for a string */
export function toWholeText(json: JsonText): string {
  return typeof json === 'string' ? json : json.join('');
}

/** The text as bytes, in pieces if it is long. */
export function toBytes(json: JsonText): readonly Buffer[] {
  const pieces = typeof json === 'string' ? [json] : json;
  return pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
}

/** The result of an operation, with its data as JSON text. */
export class WrittenResult {
  /** The data as JSON; `undefined` if nothing was executed. */
  readonly text: JsonText | undefined;
  readonly errors: readonly GraphQLError[] | undefined;
  /** Information about the execution, beside the data. */
  readonly extensions: object | undefined;

  constructor(text: JsonText | undefined, errors?: readonly GraphQLError[], extensions?: object) {
    this.text = text;
    this.errors = errors;
    this.extensions = extensions;
  }

  /** The result as JSON. The errors stand first, as the specification recommends. */
  toJson(): JsonText {
    const { text, errors, extensions } = this;
    const errorsJson = errors === undefined ? '' : `"errors":${JSON.stringify(errors.map(withoutHttp))}`;
    const extensionsJson = extensions === undefined ? '' : `"extensions":${JSON.stringify(extensions)}`;
    if (text === undefined) return `{${[errorsJson, extensionsJson].filter((json) => json !== '').join(',')}}`;
    const start = errors === undefined ? '{"data":' : `{${errorsJson},"data":`;
    return concatTexts([start, text, extensions === undefined ? '}' : `,${extensionsJson}}`]);
  }

  /** The same as one string. @throws RangeError if it is too long for a string */
  toText(): string {
    return toWholeText(this.toJson());
  }
}

/** Whether a result has data other than null. */
export function hasData({ text = 'null' }: Pick<WrittenResult, 'text'>): boolean {
  return text !== 'null';
}

/** An error as a client receives it: without the extension that is for HTTP only. */
export function withoutHttp(error: GraphQLError): ReturnType<GraphQLError['toJSON']> {
  const { extensions = {}, ...rest } = error.toJSON();
  const { http: _http, ...others } = extensions;
  return Object.keys(others).length === 0 ? rest : { ...rest, extensions: others };
}
