import { GraphQLIncludeDirective, getDirectiveValues, Kind, parse } from 'graphql';
import { createLatencies, type Latencies } from './latencies.ts';
import { type Outages, QUEUE_WAIT_MS, TRADES_AFTER_MS, type Upstream } from './outages.ts';

/** The line of the log about a block whose state does not follow from its trades. The sandbox has no such block. */
export const MISMATCHED = 'the amounts of pools do not follow from the trades of a block';

/** An unchecked GraphQL response. */
export type GraphqlResponse = {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly ResponseError[];
};

type ResponseError = {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly upstream?: Upstream; readonly retryAfterMs?: number };
};

/** When an operation was sent and answered, and the minimum height of its response. */
export type RequestTimes = {
  readonly sentAt: number;
  readonly answeredAt: number;
  /**
   * The highest height in any response before the operation was sent: no later response may have a lower one. 0 for a client of a
   * fleet that names no minimum.
   */
  readonly minHeight: number;
};

/** An operation, with the check of its response. */
export type Operation = {
  /** The kind under which it is counted. */
  readonly kind: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** The only error code with which it must fail. */
  readonly fails?: string;
  /** The upstream that determines this error: while any of its hosts has a fault, the error of that upstream is right too. */
  readonly knownBy?: Upstream;
  /** When the block of the requested trades was shown, by `performance.now()`. Only a fault since then explains an error. */
  readonly tradesSince?: (data: Readonly<Record<string, unknown>>) => number;
  /** The earlier heights of its root fields, by the name in the response. */
  readonly heights?: Readonly<Record<string, number>>;
  /** Error codes that are right because the operation requests very much. */
  readonly mayFailWith?: readonly string[];
  /** Whether `check` accepts a root field without one of its fields that failed. By default, it does not get the root field. */
  readonly checksParts?: boolean;
  /** Checks the data without the fields that failed for a known cause. @returns what is wrong */
  check?(data: Readonly<Record<string, unknown>>, times: RequestTimes): string | undefined;
};

/** What an operation has requested: when the block of its trades was shown, and the earlier heights of its root fields. */
type Requested = {
  readonly tradesFrom?: number | undefined;
  readonly heights?: Operation['heights'] | undefined;
};

/** Counts events, compares responses with what is expected, and records failures. */
export type Judge = {
  /** Judges the response to an operation of a client. */
  judgeResponse(client: string, operation: Operation, answer: GraphqlResponse, times: RequestTimes): void;
  /** Judges an update of a subscription by the result of its check. */
  judgeUpdate(client: string, kind: string, payload: GraphqlResponse, mismatch: string | undefined): void;
  /** Judges errors without data, such as those that end a subscription. */
  judgeErrors(client: string, kind: string, errors: readonly ResponseError[], since: number): void;
  /** Records a failure. The text before the first colon is its kind. */
  fail(what: string, detail?: unknown): void;
  /** Counts an event. */
  count(what: string, times?: number): void;
  readonly counts: {
    readonly requests: ReadonlyMap<string, number>;
    readonly updates: ReadonlyMap<string, number>;
    readonly errors: ReadonlyMap<string, number>;
    readonly events: ReadonlyMap<string, number>;
    readonly wrong: ReadonlyMap<string, number>;
    /** Responses and updates that were compared with what is expected, by their kinds. */
    readonly compared: ReadonlyMap<string, number>;
  };
  /** The number of responses and updates that were compared with what is expected. */
  checked(): number;
  /** The latencies of responses, by the kind of client. */
  readonly latencies: Latencies;
  /** The first failures with details. */
  readonly findings: readonly string[];
};

/** The message of the gateway while it does not call a node that responded with many errors. */
const TOO_MANY_ERRORS = 'too many errors in the last minutes';

/** A part of the message of the gateway about a block with a damaged trade. */
const UNDECODABLE = 'a trade of the block cannot be decoded';

/** What is not known while blocks cannot be read. */
const FIELDS_OF_TRADES: ReadonlySet<string | number> = new Set(['trades', 'volume', 'tradedPrice']);

const MAX_FINDINGS = 12;
const MAX_FINDINGS_PER_KIND = 3;
const MAX_DETAIL_LENGTH = 3_000;

/** Creates the judge of a run. It calls `onFinding` with each of the first failures. */
export function createJudge(outages: Outages, onFinding: (finding: string) => void): Judge {
  const counts = {
    requests: new Map<string, number>(),
    updates: new Map<string, number>(),
    errors: new Map<string, number>(),
    events: new Map<string, number>(),
    wrong: new Map<string, number>(),
    compared: new Map<string, number>(),
  };
  const findings: string[] = [];
  const latencies = createLatencies();

  function wrong(what: string, detail?: unknown): void {
    const kind = what.split(':')[0] ?? what;
    add(counts.wrong, kind);
    if ((counts.wrong.get(kind) ?? 0) > MAX_FINDINGS_PER_KIND || findings.length >= MAX_FINDINGS) return;
    const text = detail === undefined ? '' : `\n${JSON.stringify(detail, undefined, 1).slice(0, MAX_DETAIL_LENGTH)}`;
    findings.push(`${what}${text}`);
    onFinding(`${what}${text}`);
  }

  /**
   * Whether the queue of the nodes may refuse a request. All clients together request so many earlier states that a slow machine needs
   * longer for them than a request may wait. The clients of order books, which are small, must never wait so long.
   */
  function explainsBusyNode(from: number, to: number): boolean {
    return to - from >= QUEUE_WAIT_MS || outages.explainsTrades(from, to);
  }

  /** Whether an error has a cause outside the gateway. */
  function isExplained(
    { message, path = [], extensions = {} }: ResponseError,
    from: number,
    to: number,
    { tradesFrom = from - TRADES_AFTER_MS, heights = {} }: Requested,
  ): boolean {
    const { code = '', upstream } = extensions;
    const height = heights[path[0] ?? ''];
    if (message.includes(UNDECODABLE)) return outages.explainsDamagedTrade(tradesFrom, to);
    const isOfTrades = path.some((name) => FIELDS_OF_TRADES.has(name));
    if (isOfTrades && outages.explainsTrades(tradesFrom, to)) return true;
    if (code === 'HEIGHT_NOT_AVAILABLE') return outages.explainsLateHeight(from, to);
    if (message.includes('changed while the gateway read them')) return outages.explainsReplaced(from, to, height);
    const [, branched] = /another branch of the chain at beacon height (\d+)/.exec(message) ?? [];
    if (branched !== undefined && outages.explainsBranch(Number(branched), from, to)) return true;
    // A block can be replaced before its trades were read.
    if (branched !== undefined && isOfTrades) return outages.explainsReplaced(tradesFrom, to);
    if (message.includes(TOO_MANY_ERRORS)) return outages.explainsTooManyErrors(from, to, height);
    // A client that requests very much lists this code in `mayFailWith`. For others, only a slow upstream or machine explains it. Calls
    // for blocks use the same connections.
    if (code === 'UPSTREAM_BUSY' && upstream !== undefined)
      return !outages.isWell(upstream, from, to) || (upstream === 'NODE' && explainsBusyNode(from, to));
    return code.startsWith('UPSTREAM_') && upstream !== undefined && outages.explains(upstream, from, to, height);
  }

  /** @param details further facts for the finding */
  function judgeErrors(
    subject: string,
    errors: readonly ResponseError[],
    [from, to]: readonly [from: number, to: number],
    details: object = {},
    requested: Requested = {},
  ): void {
    for (const { extensions } of errors) add(counts.errors, extensions?.code ?? 'without a code');
    const unexplained = errors.filter((error) => !isExplained(error, from, to, requested));
    if (unexplained.length === 0) return;
    // All errors of a response are one finding, so that the findings show several responses.
    wrong(`an error without a cause: ${subject}`, {
      second: Math.round(to / 1_000),
      ms: to - from,
      outages: outages.describe(from, to),
      blocksReplaced: outages.explainsReplaced(from, to),
      errors: unexplained,
      ...details,
    });
  }

  return {
    judgeResponse(client, operation, answer, times) {
      const { kind, query, variables, fails, knownBy, mayFailWith = [], check } = operation;
      const { data, errors = [] } = answer;
      const { sentAt, answeredAt } = times;
      const faults = outages.describe(sentAt, answeredAt);
      add(counts.requests, kind);
      latencies.record(client.replace(/ \d+$/, ''), answeredAt - sentAt, faults.length === 0);
      if (errors.some(({ extensions }) => extensions?.code === 'HEIGHT_NOT_AVAILABLE' && extensions.retryAfterMs)) {
        judgeErrors(`${kind} of ${client}`, errors, [sentAt, answeredAt]);
        return;
      }
      if (fails !== undefined) {
        for (const { extensions } of errors) add(counts.errors, extensions?.code ?? 'without a code');
        const isUnknown = knownBy !== undefined && !outages.isWell(knownBy, sentAt, answeredAt);
        const isRight = ({ extensions, message }: ResponseError) =>
          extensions?.code === fails ||
          (knownBy === 'NODE' && extensions?.code === 'UPSTREAM_BUSY' && explainsBusyNode(sentAt, answeredAt)) ||
          (isUnknown && extensions?.upstream === knownBy) ||
          (knownBy !== undefined && message.includes(TOO_MANY_ERRORS) && outages.hasFailedStates(answeredAt));
        if (errors.length > 0 && errors.every(isRight)) add(counts.compared, kind);
        else wrong(`not ${fails}: ${kind} of ${client}`, { query: query.slice(0, 500), variables, faults, answer });
        return;
      }
      // A client of a fleet that names no minimum height can know a height from another gateway, which was ahead.
      const isBehind = ({ message }: ResponseError) => times.minHeight === 0 && message.includes('is in the future');
      const unexpected = errors.filter(
        (error) => !mayFailWith.includes(error.extensions?.code ?? '') && !isBehind(error),
      );
      const details = { query: query.slice(0, 500), variables, beaconHeight: data?.['beaconHeight'] };
      const tradesFrom = data == null ? undefined : operation.tradesSince?.(data);
      const requested = { heights: operation.heights, tradesFrom };
      judgeErrors(`${kind} of ${client}`, unexpected, [sentAt, answeredAt], details, requested);
      if (data == null) {
        if (errors.length === 0) wrong(`neither data nor errors: ${kind} of ${client}`, { query, variables, answer });
        return;
      }
      const missing = rootNamesOf(operation).filter((name) => !Object.hasOwn(data, name));
      if (missing.length > 0) {
        wrong(`a response without ${missing}: ${kind} of ${client}`, { query, variables, times, faults, answer });
        return;
      }
      const rest = withoutFailed(data, errors, operation);
      const mismatch = check?.(rest, times);
      if (mismatch === undefined) {
        if (Object.keys(rest).length > 0) add(counts.compared, kind);
      } else wrong(`a wrong response: ${kind} of ${client}: ${mismatch}`, { query, variables, times, faults, answer });
    },
    judgeUpdate(client, kind, payload, mismatch) {
      add(counts.updates, kind);
      if (mismatch === undefined) add(counts.compared, kind);
      else
        wrong(`a wrong update: ${kind} of ${client}: ${mismatch}`, {
          second: Math.round(performance.now() / 1_000),
          ...payload,
        });
    },
    judgeErrors: (client, kind, errors, since) =>
      judgeErrors(`${kind} of ${client}`, errors, [since, performance.now()]),
    fail: wrong,
    count: (what, times = 1) => add(counts.events, what, times),
    counts,
    checked: () => [...counts.compared.values()].reduce((sum, count) => sum + count, 0),
    latencies,
    findings,
  };
}

/** The names of the root fields that a response must have. A request by REST names none. */
function rootNamesOf({ query, variables = {} }: Operation): readonly string[] {
  if (query.startsWith('GET ')) return [];
  const [definition] = parse(query, { noLocation: true }).definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION) return [];
  const values = { sources: {}, coerced: variables };
  return definition.selectionSet.selections
    .filter((field) => field.kind === Kind.FIELD)
    .filter((field) => getDirectiveValues(GraphQLIncludeDirective, field, values)?.['if'] !== false)
    .map(({ alias, name }) => (alias ?? name).value);
}

/** The data without the root fields that failed. With `checksParts`, a root field that has a value loses only its fields that failed. */
function withoutFailed(
  data: Readonly<Record<string, unknown>>,
  errors: readonly ResponseError[],
  { checksParts = false }: Operation,
): Readonly<Record<string, unknown>> {
  const rest = { ...data };
  for (const { path: [name = '', part = ''] = [] } of errors) {
    const { [part]: _failed, ...others } = (rest[name] ?? {}) as Readonly<Record<string, unknown>>;
    if (checksParts && part !== '' && rest[name] != null) rest[name] = others;
    else delete rest[name];
  }
  return rest;
}

function add(counts: Map<string, number>, what: string, times = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + times);
}
