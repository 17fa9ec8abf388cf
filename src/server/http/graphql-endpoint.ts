import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { handlePreflight, isAllowedOrigin, isPreflight, originNotAllowed } from '../clients/origins.ts';
import { Account } from '../clients/rate-limits.ts';
import { summarizeErrors } from '../operations/log-details.ts';
import { type HttpExchange, isRead } from '../requests/http-exchange.ts';
import { createNegotiation, type JsonType, readContentType } from '../requests/media-types.ts';
import type { TransportOptions } from '../transport-options.ts';
import { readBefore } from './request-body.ts';
import type { ResponseWriter } from './response-writer.ts';

/** What the endpoint needs. */
type GraphqlEndpointOptions = Pick<TransportOptions, 'rates' | 'connections' | 'corsOrigins'> & {
  readonly writer: ResponseWriter;
  /** Handles plain requests. @param before the body, if other code has read it */
  readonly plain: (exchange: HttpExchange, account: Account, type: JsonType, before: Buffer | undefined) => void;
  /** Handles all others. */
  readonly other: (exchange: HttpExchange, account: Account) => void;
};

/**
 * Creates the handler of the GraphQL endpoint. It refuses pages of other origins and clients over a limit, and then decides by
 * method, content type and `Accept` who handles the request to its end.
 *
 * A plain request is a GET or a POST of JSON whose client accepts JSON.
 */
export function createGraphqlEndpoint(options: GraphqlEndpointOptions): (exchange: HttpExchange) => void {
  const { writer, rates, connections, corsOrigins, plain, other } = options;
  const accepted = createNegotiation();

  function refusalOf(request: IncomingMessage, response: ServerResponse, account: Account): GraphQLError | undefined {
    if (!isAllowedOrigin(request, corsOrigins)) return originNotAllowed(request);
    if (connections?.admit(request, response) === false) return connections.refusal;
    return request.method === 'OPTIONS' ? undefined : account.charge(1);
  }

  return (exchange) => {
    const { request, response } = exchange;
    const { json } = accepted(request.headers.accept);
    if (isPreflight(request, corsOrigins)) {
      writer.begin(exchange);
      handlePreflight(request, response);
      return;
    }
    const account = new Account(rates, request, 'http');
    const error = refusalOf(request, response, account);
    if (error !== undefined) {
      writer.refuse(exchange, json, error, { errors: summarizeErrors([error]) });
      return;
    }
    const before = isRead(request) ? undefined : readBefore(request);
    if (json !== undefined && isPlain(request)) {
      plain(exchange, account, json, before);
    } else {
      if (before !== undefined) Object.assign(request, { body: Readable.from([before]) });
      other(exchange, account);
    }
  };
}

function isPlain(request: IncomingMessage): boolean {
  return isRead(request) || (request.method === 'POST' && readContentType(request.headers['content-type']) === 'json');
}
