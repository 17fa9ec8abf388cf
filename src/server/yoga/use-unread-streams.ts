import { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { isStream } from '../stream.ts';

/**
 * Ends subscriptions whose updates nobody would read: the client accepts no stream of events, or sent several operations as
 * an array.
 *
 * Yoga would answer with an empty 406, or with `{}` in the array, and leave the subscription open for ever.
 */
export function useUnreadStreams(): Plugin {
  return {
    async onResultProcess({ request, result, resultProcessor, setResult, setResultProcessor }) {
      if (Array.isArray(result)) {
        setResult(await Promise.all(result.map((each) => (isStream(each) ? refuse(each, IN_AN_ARRAY) : each))));
      } else if (isStream(result) && resultProcessor === undefined) {
        const accept = request.headers.get('accept') ?? '';
        setResult(await refuse(result, accept.includes(MULTIPART) ? `${NO_MULTIPART} ${NOT_ACCEPTED}` : NOT_ACCEPTED));
        const type = accept.includes(GRAPHQL_RESPONSE) ? GRAPHQL_RESPONSE : 'application/json';
        setResultProcessor(
          (refused, { Response }) => Response.json(refused, { status: 406, headers: { 'content-type': type } }),
          type,
        );
      }
    },
  };
}

const GRAPHQL_RESPONSE = 'application/graphql-response+json';
const NOT_ACCEPTED = 'A subscription requires a websocket, or a client that accepts text/event-stream.';
const MULTIPART = 'multipart/mixed';
const NO_MULTIPART = 'Multipart subscriptions are not supported.';
const IN_AN_ARRAY = 'An array of operations cannot contain a subscription.';

async function refuse(stream: AsyncIterable<unknown>, message: string): Promise<{ errors: [GraphQLError] }> {
  await stream[Symbol.asyncIterator]().return?.();
  return { errors: [new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } })] };
}
