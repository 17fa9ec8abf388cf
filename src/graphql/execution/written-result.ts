import type { GraphQLError } from 'graphql';
import { concatTexts, type JsonText, toWholeText } from './json-text.ts';

/** Information about the execution in the response, beside the data. */
export type ResultExtensions = Readonly<Record<string, unknown>>;

/** The result of an operation, with its data as JSON text. */
export class WrittenResult {
  /** The data as JSON; `undefined` if nothing was executed. */
  readonly text: JsonText | undefined;
  readonly errors: readonly GraphQLError[] | undefined;
  readonly extensions: ResultExtensions | undefined;

  constructor(text: JsonText | undefined, errors?: readonly GraphQLError[], extensions?: ResultExtensions) {
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
