import { type FieldNode, GraphQLError, locatedError } from 'graphql';
import { GatewayError, MAX_ERRORS, withoutStacks } from '../../errors.ts';

/** A path in the response, from its end to its start; `undefined` is the response itself. */
export type Place = { readonly around: Place | undefined; readonly key: string | number } | undefined;

/** The first errors of a response, in the order in which they occurred, and the number of further errors. */
export class FieldErrors {
  readonly #reported: GraphQLError[] = [];
  #more = 0;

  /**
   * The error with its path in the response and its location in the document.
   *
   * @returns the same error if it has a path, or if it will only be counted
   */
  place(error: unknown, nodes: readonly FieldNode[] | undefined, place: Place): unknown {
    if (this.#reported.length >= MAX_ERRORS) return error;
    if (place === undefined && error instanceof GraphQLError) return error;
    return withoutStacks(() => locatedError(error, nodes, place && pathOf(place)));
  }

  /** Adds an error that has a path, or counts it if there are too many. */
  add(error: unknown): void {
    if (this.#reported.length < MAX_ERRORS && error instanceof GraphQLError) this.#reported.push(error);
    else this.#more++;
  }

  /** The errors of the response: the first ones, and one with the number of further errors; `undefined` if there are none. */
  report(): readonly GraphQLError[] | undefined {
    if (this.#more === 0) return this.#reported.length === 0 ? undefined : this.#reported;
    const message = this.#more === 1 ? '1 more error is not reported.' : `${this.#more} more errors are not reported.`;
    const originalError = new GatewayError('TOO_MANY_ERRORS', message);
    return [...this.#reported, withoutStacks(() => new GraphQLError(message, { originalError }))];
  }
}

function pathOf(place: Place): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.around) path.push(at.key);
  return path.reverse();
}
