import type { ExecutionResult, GraphQLError } from 'graphql';

/** The extensions of a result. */
export type ResultExtensions = Readonly<Record<string, unknown>>;

/**
 * The result of an execution, with its data as JSON text. The text is only parsed if `data` is read.
 *
 * All results have the same properties, so that V8 creates one hidden class for them.
 */
export class WrittenResult implements ExecutionResult {
  /** The data as JSON; `undefined` if nothing was executed. */
  readonly text: string | undefined;
  declare readonly errors?: readonly GraphQLError[];
  declare readonly extensions?: ResultExtensions;
  /** Writes the result. Yoga calls it with a copy of the result, in which errors have no locations. */
  readonly stringify: (result: unknown) => string;

  constructor(text: string | undefined, errors?: readonly GraphQLError[], extensions?: ResultExtensions) {
    this.text = text;
    this.errors = errors as readonly GraphQLError[];
    this.extensions = extensions as ResultExtensions;
    this.stringify = errors === undefined && extensions === undefined ? toDataText : () => this.toText();
  }

  /** `undefined` if nothing was executed. */
  get data(): Record<string, unknown> | null {
    return this.text === undefined ? (undefined as never) : JSON.parse(this.text);
  }

  /** Errors first, as the specification recommends. */
  toText(): string {
    const { text, errors, extensions } = this;
    if (errors === undefined && extensions === undefined) return toDataText(this);
    const members = [
      ...(errors === undefined ? [] : [`"errors":${JSON.stringify(errors.map(withoutHttp))}`]),
      ...(text === undefined ? [] : [`"data":${text}`]),
      ...(extensions === undefined ? [] : [`"extensions":${JSON.stringify(extensions)}`]),
    ];
    return `{${members.join(',')}}`;
  }
}

function toDataText(result: unknown): string {
  return `{"data":${(result as WrittenResult).text}}`;
}

/** The data of a result, or of Yoga's copy of it, as JSON text. `data` is not read, because that would parse the text. */
function textOf(result: ExecutionResult): string | undefined {
  return 'text' in result ? (result.text as string | undefined) : JSON.stringify(result.data);
}

/** Whether an operation was executed, also if it failed. */
export function wasExecuted(result: ExecutionResult): boolean {
  return textOf(result) !== undefined;
}

/** Whether a result has data other than null. */
export function hasData(result: ExecutionResult): boolean {
  return (textOf(result) ?? 'null') !== 'null';
}

/** An error as JSON, without the extension for its HTTP status. */
export function withoutHttp(error: GraphQLError): ReturnType<GraphQLError['toJSON']> {
  const { extensions = {}, ...rest } = error.toJSON();
  const { http: _http, ...others } = extensions;
  return Object.keys(others).length === 0 ? rest : { ...rest, extensions: others };
}
