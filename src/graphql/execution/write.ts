import { locatedError } from 'graphql';
import type { Execution, FieldPlan, ObjectPlan, Place, WriteValue, Written } from './plan.ts';

/** Writes an object. Its fields are resolved in their order, and those that give promises are waited for side by side. */
export function writeObject({ fields }: ObjectPlan, source: unknown, place: Place, execution: Execution): Written {
  let text = '{';
  let waiting: Waiting | undefined;
  try {
    for (const field of fields) {
      text += field.opening;
      if (field.write === undefined) continue;
      const written = writeField(field, field.write, source, place, execution);
      if (typeof written === 'string') {
        text += written;
      } else {
        waiting = waitFor(written, text, waiting);
        text = '';
      }
    }
  } catch (error) {
    return failAfter(waiting, error);
  }
  return waiting === undefined ? `${text}}` : join(waiting, `${text}}`);
}

function writeField(field: FieldPlan, write: WriteValue, source: unknown, place: Place, execution: Execution): Written {
  const { name } = field;
  try {
    const value = resolveField(field, source, execution);
    const quickly = field.writeQuickly?.(value);
    if (quickly !== undefined) return quickly;
    const written = isPromise(value)
      ? value.then((resolved) => write(resolved, place, name, execution))
      : write(value, place, name, execution);
    return typeof written === 'string'
      ? written
      : written.then(undefined, (error) => standIn(error, field, { around: place, key: name }, execution));
  } catch (error) {
    return standIn(error, field, { around: place, key: name }, execution);
  }
}

function resolveField({ property, resolve, args, info }: FieldPlan, source: unknown, execution: Execution): unknown {
  const given = typeof args === 'number' ? execution.args[args] : args;
  if (resolve !== undefined) return resolve(source, given, execution.context, info);
  const value = (source as Readonly<Record<string, unknown>>)[property];
  return typeof value === 'function' ? value.call(source, given, execution.context, info) : value;
}

/** Makes the writing of a list, whose entries fail one by one where null may stand in their place. */
export function listWriter(write: WriteValue, entries: Pick<FieldPlan, 'isNullable' | 'nodes'>): WriteValue {
  return (value, around, key, execution) => {
    if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) throw new Error('This is no list.');

    const place = { around, key };
    let text = '[';
    let waiting: Waiting | undefined;
    let index = 0;
    try {
      for (const entry of value as Iterable<unknown>) {
        if (index > 0) text += ',';
        const written = writeEntry(entry, index, place, execution);
        index++;
        if (typeof written === 'string') {
          text += written;
        } else {
          waiting = waitFor(written, text, waiting);
          text = '';
        }
      }
    } catch (error) {
      return failAfter(waiting, error);
    }
    return waiting === undefined ? `${text}]` : join(waiting, `${text}]`);
  };

  function writeEntry(entry: unknown, index: number, place: Place, execution: Execution): Written {
    try {
      const written = isPromise(entry)
        ? entry.then((resolved) => write(resolved, place, index, execution))
        : write(entry, place, index, execution);
      return typeof written === 'string'
        ? written
        : written.then(undefined, (error) => standIn(error, entries, { around: place, key: index }, execution));
    } catch (error) {
      return standIn(error, entries, { around: place, key: index }, execution);
    }
  }
}

/** Notes an error where null may stand, and writes that. @throws it, with its place, where null may not stand */
function standIn(
  error: unknown,
  { isNullable, nodes }: Pick<FieldPlan, 'isNullable' | 'nodes'>,
  place: Place,
  { errors }: Execution,
): string {
  const located = locatedError(error, nodes, pathOf(place));
  if (!isNullable) throw located;
  errors.push(located);
  return 'null';
}

function pathOf(place: Place): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.around) path.push(at.key);
  return path.reverse();
}

/** What has to be waited for, and the text in front of each. */
type Waiting = { readonly texts: string[]; readonly promises: Promise<string>[] };

function waitFor(promise: Promise<string>, text: string, waiting: Waiting = { texts: [], promises: [] }): Waiting {
  waiting.texts.push(text);
  waiting.promises.push(promise);
  return waiting;
}

function join({ texts, promises }: Waiting, end: string): Promise<string> {
  const [only, another] = promises;
  // By far the most answers wait for one thing.
  if (only !== undefined && another === undefined) return only.then((written) => `${texts[0]}${written}${end}`);
  return Promise.all(promises).then(
    (written) => texts.reduce((text, next, index) => `${text}${next}${written[index]}`, '') + end,
  );
}

/** What is under way is waited for first, because its errors belong to the answer as well. @throws the error */
function failAfter(waiting: Waiting | undefined, error: unknown): Promise<string> {
  if (waiting === undefined) throw error;
  const fail = () => {
    throw error;
  };
  return Promise.all(waiting.promises).then(fail, fail);
}

/** Whether a value has to be waited for. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
