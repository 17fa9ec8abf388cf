/** The parameters of the URL with another value; an empty one is left out. */
export function withParameter(parameters: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(parameters);
  if (value === '') next.delete(name);
  else next.set(name, value);
  return next;
}

/**
 * The parameters that the URL has now. Those of `useSearchParams` are of what is on the screen: a change that is made from them
 * would undo another one that was made a moment before.
 */
export function currentParameters(): URLSearchParams {
  return new URLSearchParams(location.search);
}

/**
 * How a control changes a parameter of the URL: the history of the browser gets no entry for it, and the page stays where it is
 * scrolled to.
 */
export const IN_PLACE = { replace: true, preventScrollReset: true } as const;

/** The same for a control that changes which rows a list has, or their order: the page shows the first ones. */
export const FROM_FIRST_ROW = { replace: true } as const;
