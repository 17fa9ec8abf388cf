import fc from 'fast-check';

/** The text of a document, its bigints as digits. */
export function print(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(print).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([key, field]) => `${JSON.stringify(key)}:${print(field)}`)
    .join()}}`;
}

/** A copy with `value` in one place: each step goes to that entry, counted round and round; no steps, or no entry, is here. */
function mutate(document: unknown, steps: readonly number[], value: unknown, rename: boolean): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof document !== 'object' || document === null) return value;
  const entries = Object.entries(document);
  if (entries.length === 0) return value;

  const at = step % entries.length;
  const changed = entries.map(([key, entry], index) => {
    if (index !== at) return [key, entry] as const;
    return [rename && rest.length === 0 ? `${key}0` : key, mutate(entry, rest, value, rename)] as const;
  });
  return Array.isArray(document) ? changed.map(([, entry]) => entry) : Object.fromEntries(changed);
}

const anything = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    true,
    '',
    [],
    {},
    -1,
    0,
    0.5,
    1e300,
    2n ** 53n,
    2n ** 64n,
    -(2n ** 64n),
    [[]],
    [null],
  ),
  fc.jsonValue(),
);
const anySteps = fc.array(fc.nat({ max: 20 }), { maxLength: 5 });

/** Up to three changes of a document: to each a place, what is there instead, and whether it is renamed. */
export const anyMutations = fc.array(fc.tuple(anySteps, anything, fc.boolean()), { minLength: 1, maxLength: 3 });

/** A copy of a document with those changes, one after another. */
export function mutateAll(document: unknown, changes: readonly Mutation[]): unknown {
  return changes.reduce<unknown>((changed, [path, value, rename]) => mutate(changed, path, value, rename), document);
}

type Mutation = readonly [path: readonly number[], value: unknown, rename: boolean];
