import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { TakeTurn } from '../../graphql/execution/time-slice.ts';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Subscribe } from '../../live/broadcast/broadcast.ts';
import { inSpan, type OperationSpan } from '../../tracing/tracing.ts';
import type { HttpExchange } from '../http/open-responses.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { Account } from '../operations/account.ts';
import type { EncodedUpdate } from '../operations/encoded-update.ts';
import { codesOf } from '../operations/log-details.ts';
import { namesDocument } from '../operations/persisted-queries.ts';
import { type Client, isSubscription, type Prepared, type SentOperation } from '../operations/pipeline.ts';
import { LAST_EVENT_ID_HEADER, MIN_HEIGHT_HEADER, wantsCost } from '../requests/headers.ts';
import { refusal } from '../requests/refusal.ts';
import type { TransportOptions } from '../transport-options.ts';

/** What the HTTP server passes to Yoga beside the request; a request without a server has none. */
export type ServerContext = { readonly exchange?: HttpExchange };

/** What the plugin needs. */
export type UseOperationsOptions = TransportOptions & {
  /** Waits for a turn of the event loop. */
  readonly takeTurn: TakeTurn;
  /** Maximum number of values in a response. */
  readonly maxValues: number;
  readonly metrics: Pick<Metrics, 'recordRefusedOperation'>;
};

/** Takes each operation through the pipeline, in the place of Yoga's own parsing, validation and execution. */
export function useOperations(options: UseOperationsOptions): Plugin<object, ServerContext> {
  const { pipeline, minimumHeights, clients, rates, takeTurn, maxValues, metrics, tracing } = options;

  function spanOf({ headers }: Request, exchange: HttpExchange | undefined): OperationSpan | undefined {
    const { span } = exchange ?? {};
    if (exchange !== undefined) exchange.span = undefined;
    return span ?? tracing?.startOperation('http', exchange?.id, Object.fromEntries(headers), exchange?.startedAt);
  }

  function clientOf(request: Request, exchange: HttpExchange | undefined, span: OperationSpan | undefined): Client {
    const account = exchange?.account ?? new Account(rates, exchange?.request, 'http');
    if (exchange !== undefined) exchange.account = undefined;
    return {
      address: exchange && clients.of(exchange.request),
      connection: exchange?.response,
      receivedAt: exchange?.startedAt,
      account,
      wantsCost: exchange !== undefined && wantsCost(exchange.request),
      lastEventId: request.headers.get(LAST_EVENT_ID_HEADER),
      span,
    };
  }

  /** The operations of an array have a turn of the event loop each: together they would block it. */
  async function prepareInTurn(sent: SentOperation, client: Client, { headers }: Request): Promise<Prepared> {
    await takeTurn();
    const refused = await minimumHeights.reachSent(headers.get(MIN_HEIGHT_HEADER), MIN_HEIGHT_HEADER, client);
    return refused === undefined ? pipeline.prepare(sent, client) : { errors: [refused] };
  }

  /** Why an operation of an array is not executed: the results of an array are one response. */
  function findExcess(prepared: Prepared, exchange?: HttpExchange): GraphQLError | undefined {
    if (exchange === undefined || prepared.errors !== undefined) return undefined;
    const values = Math.ceil((exchange.values ?? 0) + prepared.cost.values);
    // An operation that exceeds a limit by itself has an error of its own.
    if (exchange.values !== undefined && values > maxValues) {
      metrics.recordRefusedOperation();
      const message = `The operations of the array have too many values. The maximum is ${maxValues}.`;
      return refusal('QUERY_TOO_COMPLEX', message);
    }
    exchange.values = values;
    return undefined;
  }

  async function run(prepared: Prepared, exchange?: HttpExchange): Promise<WrittenResult | Subscribe<EncodedUpdate>> {
    const excess = findExcess(prepared, exchange);
    if (excess !== undefined) return new WrittenResult(undefined, [excess]);
    if (!isSubscription(prepared)) {
      const { result, height } = await pipeline.run(prepared);
      noteAccess(exchange, prepared, height);
      return result.at(height);
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
        const span = spanOf(request, exchange);
        const client = clientOf(request, exchange, span);
        const result = await inSpan(span, async () =>
          run(exchange?.prepared ?? (await prepareInTurn(params as SentOperation, client, request)), exchange),
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
