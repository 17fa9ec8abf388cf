import type { FormattedExecutionResult, Sink, SubscribePayload } from 'graphql-ws';

/** The errors with which the gateway has refused an operation, in the form in which graphql-ws has them. */
export type Refusal = Parameters<Sink['error']>[0] & readonly unknown[];

type ReadOptions = {
  readonly signal: AbortSignal;
  /** Called when the response begins. */
  readonly onOpen: () => void;
  /** Called with each chunk, also of comments: the connection is alive. */
  readonly onBytes: () => void;
  readonly onUpdate: (update: FormattedExecutionResult) => void;
};

/**
 * Sends a subscription, and reads its updates until the gateway ends it: GraphQL over server-sent events, in the "distinct connections
 * mode". Each event of the gateway is a name, an id, and one line of data. The ids are not sent back: the page drops updates below
 * its newest height, so it needs the current value, not those that it has missed. `$afterHeight` is for what needs every height.
 *
 * @returns the errors of a gateway that has refused the operation
 * @throws if the response breaks off, or comes from something else than a gateway
 */
export async function readEventStream(
  url: string,
  payload: SubscribePayload,
  { signal, onOpen, onBytes, onUpdate }: ReadOptions,
): Promise<Refusal | undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(payload),
    signal,
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return readRefusal(response);
  onOpen();

  let unread = '';
  for await (const text of textOf(response)) {
    onBytes();
    const events = (unread + text).split('\n\n');
    unread = events.pop() ?? '';
    for (const event of events) {
      if (event.startsWith('event: complete')) return undefined;
      const data = /^data: (.+)$/m.exec(event)?.[1];
      if (data !== undefined) onUpdate(JSON.parse(data));
    }
  }
  throw new Error('the event stream has broken off');
}

/** The text of a response, as it arrives. Safari has no asynchronous iterator of streams. */
async function* textOf({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  for (;;) {
    const chunk = await reader?.read();
    if (chunk?.value === undefined) return;
    yield decoder.decode(chunk.value, { stream: true });
  }
}

/** @throws if it is not a response of the gateway */
async function readRefusal(response: Response): Promise<Refusal> {
  const { errors } = await response.json();
  if (!Array.isArray(errors)) throw new Error(`no errors with status ${response.status}`);
  return errors as unknown as Refusal;
}
