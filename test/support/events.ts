import type { Answer } from './gateway.ts';

/** The `next` events of a GraphQL answer over server-sent events, until `complete` or until the reader leaves. */
export async function* readEvents(response: Response): AsyncGenerator<Answer, undefined> {
  if (response.body === null) throw new Error('the answer has no body');

  let text = '';
  const decoder = new TextDecoder();
  // Read without a decoding stream between: whoever leaves this loop leaves the answer at once.
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      if (event.startsWith('event: complete')) return undefined;
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data) as Answer;
    }
  }
  return undefined;
}

/** What a client that stays has got of a subscription until now. */
export type KeptEvents = { readonly answers: readonly Answer[]; isOpen(): boolean };

/** Reads a subscription from now on, until it ends. */
export function keepEvents(events: AsyncGenerator<Answer, undefined>): KeptEvents {
  const answers: Answer[] = [];
  let isOpen = true;
  const read = async () => {
    for await (const answer of events) answers.push(answer);
  };
  read().finally(() => {
    isOpen = false;
  });
  return { answers, isOpen: () => isOpen };
}
