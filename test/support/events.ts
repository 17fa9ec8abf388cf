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
