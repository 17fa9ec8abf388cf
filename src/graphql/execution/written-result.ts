import type { GraphQLError } from 'graphql';

/** Information about the execution in the response, beside the data. */
export type ResultExtensions = Readonly<Record<string, unknown>>;

/** The result of an operation, with its data as JSON text. */
export class WrittenResult {
  /** The data as JSON; `undefined` if nothing was executed. */
  readonly text: string | undefined;
  readonly errors: readonly GraphQLError[] | undefined;
  readonly extensions: ResultExtensions | undefined;

  constructor(text: string | undefined, errors?: readonly GraphQLError[], extensions?: ResultExtensions) {
    this.text = text;
    this.errors = errors;
    this.extensions = extensions;
  }

  /** The result as JSON. The errors stand first, as the specification recommends. */
  toText(): string {
    const { text, errors, extensions } = this;
    if (errors === undefined && extensions === undefined) return `{"data":${text}}`;
    const members = [
      ...(errors === undefined ? [] : [`"errors":${JSON.stringify(errors.map(withoutHttp))}`]),
      ...(text === undefined ? [] : [`"data":${text}`]),
      ...(extensions === undefined ? [] : [`"extensions":${JSON.stringify(extensions)}`]),
    ];
    return `{${members.join(',')}}`;
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
