import type { Context } from '../context.ts';
import type { Place } from './field-errors.ts';
import type { Execution, FieldPlan, ObjectPlan, WriteValue, Written } from './plan.ts';
import { continueLater, isOver, isOverForEntry } from './time-slice.ts';
import { concatTexts, finishText, type JsonText } from './written-result.ts';

/**
 * Writes an object as JSON. Its fields are resolved in order. Promises are awaited together.
 *
 * @param start the index of the first field to write: root fields can be written in several time slices
 */
export function writeObject(plan: ObjectPlan, source: unknown, place: Place, execution: Execution, start = 0): Written {
  const { fields, failure } = plan;
  if (failure !== undefined) throw failure;
  const slice = place === undefined ? execution.slice : undefined;
  let text = start === 0 ? '{' : '';
  let pending: Pending | undefined;
  // A field that waits for its value has written nothing. The next one is resolved in the same slice, so that DataLoader
  // batches what both load.
  let isWaiting = true;
  try {
    for (let index = start; index < fields.length; index++) {
      if (slice !== undefined && !isWaiting && isOver(slice)) {
        const rest = continueLater(slice, () => writeObject(plan, source, place, execution, index));
        return join(addPending(rest, text, pending), '');
      }
      const field = fields[index] as FieldPlan;
      text += field.opening;
      if (field.write === undefined) continue;
      const written = writeField(field, field.write, source, place, execution);
      if (typeof written === 'string') {
        text += written;
        isWaiting = false;
      } else {
        pending = addPending(written, text, pending);
        text = '';
        isWaiting = slice?.isYielding === false;
      }
    }
  } catch (error) {
    return failAfter(pending, error);
  }
  return pending === undefined ? `${text}}` : join(pending, `${text}}`);
}

function writeField(field: FieldPlan, write: WriteValue, source: unknown, place: Place, execution: Execution): Written {
  const { name } = field;
  const args = typeof field.args === 'number' ? execution.args[field.args] : field.args;
  if (args instanceof Error) return writeNull(args, field, { around: place, key: name }, execution);
  let value: unknown;
  try {
    value = resolveField(field, source, args, execution.context);
  } catch (error) {
    return writeNull(error, field, { around: place, key: name }, execution);
  }
  return writeValue(value, write, field, place, name, execution);
}

/** Writes the value of a field, or of an entry of a list. If it fails and is nullable, null is written. */
function writeValue(
  value: unknown,
  write: WriteValue,
  field: Pick<FieldPlan, 'isNullable' | 'nodes'>,
  around: Place,
  key: string | number,
  execution: Execution,
): Written {
  try {
    const written = isPromise(value)
      ? value.then((resolved) => write(resolved, around, key, execution))
      : write(value, around, key, execution);
    return typeof written === 'string'
      ? written
      : written.then(undefined, (error) => writeNull(error, field, { around, key }, execution));
  } catch (error) {
    return writeNull(error, field, { around, key }, execution);
  }
}

function resolveField(
  { definition: { name, resolve }, info }: FieldPlan,
  source: unknown,
  args: unknown,
  context: Context,
): unknown {
  if (resolve !== undefined) return resolve(source, args, context, info);
  const value = (source as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'function' ? value.call(source, args, context, info) : value;
}

/**
 * Creates the writer of a list. If entries are nullable, an entry that fails does not fail the list. Entries that are promises come from
 * an iterator, which creates each of them when it is written: of an array, one could reject unhandled before that.
 */
export function listWriter(write: WriteValue, entries: Pick<FieldPlan, 'isNullable' | 'nodes'>): WriteValue {
  return (value, around, key, execution) => {
    if (typeof value !== 'object' || value === null || !(Symbol.iterator in value))
      throw new Error('The value is not iterable.');
    return writeEntries((value as Iterable<unknown>)[Symbol.iterator](), 0, { around, key }, execution);
  };

  /** Writes the remaining entries of a list. A long list is written in several time slices. */
  function writeEntries(left: Iterator<unknown>, start: number, place: Place, execution: Execution): Written {
    const { slice } = execution;
    let text = start === 0 ? '[' : '';
    let pending: Pending | undefined;
    let index = start;
    try {
      for (let next = left.next(); !next.done; next = left.next()) {
        if (index > 0) text += ',';
        const written = writeValue(next.value, write, entries, place, index, execution);
        index++;
        if (typeof written === 'string') {
          text += written;
        } else {
          pending = addPending(written, text, pending);
          text = '';
        }
        if (slice !== undefined && isOverForEntry(slice)) {
          const rest = continueLater(slice, () => writeEntries(left, index, place, execution));
          return join(addPending(rest, text, pending), '');
        }
      }
    } catch (error) {
      return failAfter(pending, error);
    }
    return pending === undefined ? `${text}]` : join(pending, `${text}]`);
  }
}

/** Reports the error of a nullable field or entry, and writes null. @throws the error, with its path, if it is not nullable */
function writeNull(
  error: unknown,
  { isNullable, nodes }: Pick<FieldPlan, 'isNullable' | 'nodes'>,
  place: Place,
  { errors }: Execution,
): string {
  const placed = errors.place(error, nodes, place);
  if (!isNullable) throw placed;
  errors.add(placed);
  return 'null';
}

/** The promises that are awaited, and the text before each of them. */
type Pending = { readonly texts: JsonText[]; readonly promises: Promise<JsonText>[] };

function addPending(promise: Promise<JsonText>, text: string, pending: Pending = { texts: [], promises: [] }): Pending {
  pending.texts.push(finishText(text));
  pending.promises.push(promise);
  return pending;
}

function join({ texts, promises }: Pending, end: string): Promise<JsonText> {
  return Promise.all(promises).then((written) =>
    finishText(concatTexts([...texts.flatMap((each, index) => [each, written[index] ?? '']), end])),
  );
}

/** Fails after the pending fields, because the response contains their errors too. @throws the error */
function failAfter(pending: Pending | undefined, error: unknown): Promise<never> {
  if (pending === undefined) throw error;
  const fail = () => {
    throw error;
  };
  return Promise.all(pending.promises).then(fail, fail);
}

/** Whether a value is a promise, of any kind. */
function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
