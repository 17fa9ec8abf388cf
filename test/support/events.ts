import { onTestFinished } from 'vitest';
import type { Answer } from './gateway.ts';

/** A response of `fetch` or of undici. */
type Streamed = { readonly body: AsyncIterable<Uint8Array> | null };

/** The `next` events of a GraphQL answer over server-sent events, until `complete` or until the reader leaves. */
export async function* readEvents(response: Streamed): AsyncGenerator<Answer, undefined> {
  if (response.body === null) throw new Error('the answer has no body');

  /** What has arrived of an event that is not complete: joined once, because events can have many megabytes. */
  let pieces: string[] = [];
  const decoder = new TextDecoder();
  // Read without a decoding stream between: whoever leaves this loop leaves the answer at once.
  for await (const chunk of response.body) {
    const piece = decoder.decode(chunk, { stream: true });
    if (piece === '') continue;
    const isEnd = `${pieces.at(-1)?.at(-1) ?? ''}${piece}`.includes('\n\n');
    pieces.push(piece);
    if (!isEnd) continue;
    const events = pieces.join('').split('\n\n');
    pieces = [events.pop() ?? ''];
    for (const event of events) {
      if (event.startsWith('event: complete')) return undefined;
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data) as Answer;
    }
  }
  return undefined;
}

/** What a client that stays has got of a subscription until now. */
export type ReceivedEvents = { readonly answers: readonly Answer[]; isOpen(): boolean };

/** Reads a subscription from now on, until it ends. */
export function keepEvents(events: AsyncGenerator<Answer, undefined>): ReceivedEvents {
  const answers: Answer[] = [];
  let isOpen = true;
  const read = async () => {
    try {
      for await (const answer of events) answers.push(answer);
    } catch {
      // The gateway has stopped.
    } finally {
      isOpen = false;
    }
  };
  read();
  return { answers, isOpen: () => isOpen };
}

/**
 * The data of a subscription. An update with errors and without data is printed, and the next one is waited for: a subscriber
 * gets it while an upstream fails, and it may pass.
 *
 * @throws Error with the codes if the subscription was refused, which does not pass
 */
export async function* dataOf<Data>(updates: AsyncIterable<Answer<Data>>): AsyncGenerator<Data, undefined> {
  for await (const { data, errors = [] } of updates) {
    const described = errors.map(({ message, extensions }) => `${extensions.code}: ${message}`).join('; ');
    if (data === undefined) throw new Error(`the subscription was refused: ${described}`);
    if (data === null) console.warn(`an update with errors: ${described}`);
    else yield data;
  }
  return undefined;
}

/**
 * Collects a value of each update with data until the test ends. The connection may be lost meanwhile.
 *
 * @returns the values so far
 */
export function collect<Data, Value>(
  updates: AsyncGenerator<Answer<Data>, undefined>,
  pick: (data: Data) => Value,
): readonly Value[] {
  const values: Value[] = [];
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
    void updates.return(undefined).catch(() => {});
  });
  const read = async () => {
    for await (const data of dataOf(updates)) values.push(pick(data));
  };
  read().catch((error) => {
    if (!isOver) console.warn(`a subscription has ended: ${error}`);
  });
  return values;
}
