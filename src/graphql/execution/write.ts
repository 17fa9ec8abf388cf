import type { Context } from '../context.ts';
import { addFieldError, type Place, placeFieldError } from './field-errors.ts';
import type { Execution, FieldPlan, ObjectPlan, WriteValue, Written } from './plan.ts';
import { continueLater, isOver, isOverForEntry } from './time-slice.ts';

/**
 * Writes an object. Its fields are resolved in their order, and those that give promises are waited for side by side.
 *
 * @param start the first field to write: those of the answer itself may be written in several time slices
 */
export function writeObject(plan: ObjectPlan, source: unknown, place: Place, execution: Execution, start = 0): Written {
  const { fields, failure } = plan;
  if (failure !== undefined) throw failure;
  const slice = place === undefined ? execution.slice : undefined;
  let text = start === 0 ? '{' : '';
  let waiting: Waiting | undefined;
  try {
    for (let index = start; index < fields.length; index++) {
      if (slice !== undefined && index > start && isOver(slice)) {
        const rest = continueLater(slice, () => writeObject(plan, source, place, execution, index));
        return join(waitFor(rest, text, waiting), '');
      }
      const field = fields[index] as FieldPlan;
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
  const args = typeof field.args === 'number' ? execution.args[field.args] : field.args;
  if (field.mayFail && args instanceof Error) return standIn(args, field, { around: place, key: name }, execution);
  try {
    const value = resolveField(field, source, args, execution.context);
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

function resolveField(
  { property, resolve, info }: FieldPlan,
  source: unknown,
  args: unknown,
  context: Context,
): unknown {
  if (resolve !== undefined) return resolve(source, args, context, info);
  const value = (source as Readonly<Record<string, unknown>>)[property];
  return typeof value === 'function' ? value.call(source, args, context, info) : value;
}

/** Makes the writing of a list, whose entries fail one by one where null may stand in their place. */
export function listWriter(write: WriteValue, entries: Pick<FieldPlan, 'isNullable' | 'nodes'>): WriteValue {
  return (value, around, key, execution) => {
    if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) throw new Error('This is no list.');
    return writeEntries((value as Iterable<unknown>)[Symbol.iterator](), 0, { around, key }, execution);
  };

  /** Writes the entries that are left of a list. A long one is written in several time slices. */
  function writeEntries(left: Iterator<unknown>, start: number, place: Place, execution: Execution): Written {
    const { slice } = execution;
    let text = start === 0 ? '[' : '';
    let waiting: Waiting | undefined;
    let index = start;
    try {
      for (let next = left.next(); !next.done; next = left.next()) {
        if (index > 0) text += ',';
        const written = writeEntry(next.value, index, place, execution);
        index++;
        if (typeof written === 'string') {
          text += written;
        } else {
          waiting = waitFor(written, text, waiting);
          text = '';
        }
        if (slice !== undefined && isOverForEntry(slice)) {
          const entries = start === 0 ? withHandledRejections(left) : left;
          const rest = continueLater(slice, () => writeEntries(entries, index, place, execution));
          return join(waitFor(rest, text, waiting), '');
        }
      }
    } catch (error) {
      return failAfter(waiting, error);
    }
    return waiting === undefined ? `${text}]` : join(waiting, `${text}]`);
  }

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

/**
 * The entries that are left, of which those that reject before they are written are no unhandled rejections: these would end
 * the process. Each error is still reported when its entry is written.
 */
function withHandledRejections(left: Iterator<unknown>): Iterator<unknown> {
  const entries: unknown[] = [];
  for (let next = left.next(); !next.done; next = left.next()) {
    if (isPromise(next.value)) next.value.then(undefined, ignore);
    entries.push(next.value);
  }
  return entries.values();
}

function ignore(): void {}

/** Notes an error where null may stand, and writes that. @throws it, with its place, where null may not stand */
function standIn(
  error: unknown,
  { isNullable, nodes }: Pick<FieldPlan, 'isNullable' | 'nodes'>,
  place: Place,
  { errors }: Execution,
): string {
  const placed = placeFieldError(errors, error, nodes, place);
  if (!isNullable) throw placed;
  addFieldError(errors, placed);
  return 'null';
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
