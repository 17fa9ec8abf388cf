import { type Client, createClient } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Answer } from './gateway.ts';

/** A graphql-ws client of the endpoint at that address; it goes with the test. */
export function connect(url: string): Client {
  const client = createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket, retryAttempts: 0 });
  endWithTest(client);
  return client;
}

/** The first so many answers of an operation; fewer where it ends before. */
export async function take(client: Client, query: string, count: number, between?: () => void): Promise<Answer[]> {
  const answers: Answer[] = [];
  for await (const answer of client.iterate({ query })) {
    answers.push(answer as Answer);
    if (answers.length === count) break;
    between?.();
  }
  return answers;
}

/** Disposes a graphql-ws client when the test has finished. Its gateway may stop before, and refuse the websocket that it opens again. */
export function endWithTest({ dispose }: Pick<Client, 'dispose'>): void {
  onTestFinished(async () => {
    try {
      await dispose();
    } catch {
      // The client is disposed all the same.
    }
  });
}
