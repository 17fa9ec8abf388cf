/** How spans are sent: the protocols of OTLP. */
export const OTLP_PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;

/** One of the protocols of OTLP. */
export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** Which traces are recorded. `parentbased_` samplers follow the client, if it sends a trace context. */
export const TRACE_SAMPLERS = [
  ...(['always_on', 'always_off', 'traceidratio'] as const),
  ...(['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const),
] as const;

/** One of the samplers. */
export type TraceSampler = (typeof TRACE_SAMPLERS)[number];

/**
 * Records the work of the gateway as spans. There is one only if traces are on. Each span is `undefined` if it is not sampled:
 * then nothing was created for it.
 */
export type Tracing = {
  /**
   * Starts the span of an operation of a client.
   *
   * @param headers those of its request, with its trace context, unchecked
   * @param startedAt when its request arrived, in `performance.now()`; now by default
   */
  startOperation(
    transport: string,
    requestId: string | undefined,
    headers: NodeJS.Dict<string | string[]>,
    startedAt?: number,
  ): OperationSpan | undefined;
  /**
   * Starts the span of an update that is executed for all its subscribers. It is linked to the read of its head, and sampled
   * if that was.
   */
  startUpdate(head: Traced | undefined): OperationSpan | undefined;
  /** Starts the span of a poll. It is recorded if the poll leads to a publication or fails. */
  startPoll(name: string): PollSpan | undefined;
  /** Starts the span of an upstream call, as a child of the operation, update or poll on whose behalf code runs. */
  startCall(name: string, upstream: string, url: URL): CallSpan | undefined;
  /** The `traceparent` of the span on whose behalf code runs. */
  current(): string | undefined;
  /** Sends what is recorded, and waits for that at most for this time. */
  close(timeoutMs: number): Promise<void>;
};

/** The headers with the trace context of W3C: the span, and what the systems of its trace add. */
export const TRACE_CONTEXT_HEADERS = ['traceparent', 'tracestate'] as const;

/** Does work in a span, if there is one. */
export function inSpan<T>(span: Scope | undefined, work: () => T): T {
  return span === undefined ? work() : span.run(work);
}

/** A value that was read by a traced poll, with its trace context: `traceparent` of W3C. */
type Traced = { readonly traceparent?: string | undefined };

/** Work in a span: the upstream calls that it makes are children of the span. */
type Scope = { run<T>(work: () => T): T };

/** The span of an operation or of an update. */
export type OperationSpan = Scope & {
  /** Names the operation. @param points its cost; `undefined` for an update */
  prepared(type: string, name: string | undefined, points?: number): void;
  /** Ends the span. Later calls have no effect. */
  end(outcome?: OperationEnd): void;
};

type OperationEnd = {
  /** Where the response came from, as in the metrics. */
  readonly from?: string | undefined;
  /** The beacon height that the response describes. */
  readonly height?: number | undefined;
  readonly codes?: readonly string[] | undefined;
};

/** The span of a poll. */
export type PollSpan = Scope & {
  published(facts: Published): void;
  failed(code: string): void;
  /** Ends a poll that neither published nor failed. Nothing is recorded, also not its upstream calls. */
  discard(): void;
};

/** What a poll has published. */
export type Published = {
  readonly height?: number | undefined;
  /** How many pools differ from what was published before. */
  readonly changedPools?: number | undefined;
  /** The host that it was read from. */
  readonly host?: string | undefined;
};

/** The span of a request to an upstream. */
export type CallSpan = {
  /** The headers of the request with the trace context. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request is sent; again, if its connection broke. */
  sent(): void;
  received(status: number, bytes: number): void;
  /** @param code the code of the error if the call failed */
  end(code?: string): void;
};
