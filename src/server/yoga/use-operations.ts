import type { Plugin } from 'graphql-yoga';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Subscribe } from '../../live/broadcast/broadcast.ts';
import { inSpan, type OperationSpan, TRACEPARENT_HEADER, type Tracing } from '../../tracing.ts';
import type { ClientAddresses } from '../clients/client-address.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import { LAST_EVENT_ID_HEADER, wantsCost } from '../http/headers.ts';
import type { HttpExchange } from '../http/open-responses.ts';
import { Account } from '../operations/account.ts';
import type { EncodedUpdate } from '../operations/encoded-update.ts';
import { codesOf } from '../operations/log-details.ts';
import { namesDocument } from '../operations/persisted-queries.ts';
import {
  type Client,
  isSubscription,
  type Pipeline,
  type Prepared,
  type SentOperation,
} from '../operations/pipeline.ts';

/** What the HTTP server passes to Yoga beside the request; a request without a server has none. */
export type ServerContext = { readonly exchange?: HttpExchange };

/** What the plugin needs. */
export type UseOperationsOptions = {
  readonly pipeline: Pipeline;
  readonly clients: ClientAddresses;
  readonly rates: RateLimits | undefined;
  readonly tracing?: Tracing | undefined;
};

/** Takes each operation through the pipeline, in the place of Yoga's own parsing, validation and execution. */
export function useOperations(options: UseOperationsOptions): Plugin<object, ServerContext> {
  const { pipeline, clients, rates, tracing } = options;

  function spanOf({ headers }: Request, exchange: HttpExchange | undefined): OperationSpan | undefined {
    const { span } = exchange ?? {};
    if (exchange !== undefined) exchange.span = undefined;
    return span ?? tracing?.startOperation('http', exchange?.id, headers.get(TRACEPARENT_HEADER) ?? undefined);
  }

  function clientOf(request: Request, exchange: HttpExchange | undefined, span: OperationSpan | undefined): Client {
    const account = exchange?.account ?? new Account(rates, exchange?.request, 'http');
    if (exchange !== undefined) exchange.account = undefined;
    return {
      address: exchange && clients.of(exchange.request),
      account,
      wantsCost: exchange !== undefined && wantsCost(exchange.request),
      lastEventId: request.headers.get(LAST_EVENT_ID_HEADER),
      span,
    };
  }

  async function run(prepared: Prepared, exchange?: HttpExchange): Promise<WrittenResult | Subscribe<EncodedUpdate>> {
    if (!isSubscription(prepared)) {
      const { result, height } = await pipeline.run(prepared);
      noteAccess(exchange, prepared, height);
      return result;
    }
    noteAccess(exchange, prepared);
    const refusal = pipeline.admit(prepared);
    return refusal === undefined ? pipeline.subscribe(prepared) : new WrittenResult(undefined, [refusal]);
  }

  return {
    onParams({ params, setParams, setParamsHandler, context: { exchange } }) {
      // Yoga refuses a request without a query. A request that names a document has none, until the pipeline finds it.
      if (params.query == null && namesDocument(params)) setParams({ ...params, query: '' });
      setParamsHandler(async ({ request }) => {
        const { prepared } = exchange ?? {};
        const span = spanOf(request, exchange);
        const result = await inSpan(span, async () =>
          run(
            prepared ?? (await pipeline.prepare(params as SentOperation, clientOf(request, exchange, span))),
            exchange,
          ),
        );
        span?.end({ codes: result instanceof WrittenResult ? codesOf(result.errors) : [] });
        // Yoga hands it on as it is: `useResponses` encodes it.
        return result as never;
      });
    },
  };
}

/** Notes the height and the cost of an operation for the access log: of several, the height of the first and the sum. */
function noteAccess(exchange: HttpExchange | undefined, prepared: Prepared, height?: BeaconHeight): void {
  if (exchange === undefined || prepared.errors !== undefined) return;
  const { access } = exchange;
  exchange.access = { ...access, height: access?.height ?? height, cost: (access?.cost ?? 0) + prepared.points };
}
