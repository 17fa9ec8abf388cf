import { createLatencies, type Latencies } from './latencies.ts';
import type { Outages } from './outages.ts';

/** One of the two sources that the gateway reads, as its errors name it. */
export type Upstream = 'NODE' | 'MARKET_DATA';

/** A GraphQL answer, nothing of which is taken for granted. */
export type Answer = {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly AnswerError[];
};

type AnswerError = {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string; readonly upstream?: Upstream };
};

/** When something was asked, and what was known then. */
export type Moment = {
  readonly sentAt: number;
  readonly answeredAt: number;
  /** The highest height that any whole answer had told before it was sent: no later answer may tell a lower one. */
  readonly floor: number;
};

/** Something to ask, with what must be true of its answer. */
export type Question = {
  /** What it counts as. */
  readonly kind: string;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** The code of the error that it must fail with, alone. */
  readonly fails?: string;
  /** The upstream that knows so, where one does: as long as any of its hosts is not well, its error may be told instead. */
  readonly knownBy?: Upstream;
  /** Codes that it may fail with through its own fault: it asks for very much. */
  readonly mayFailWith?: readonly string[];
  /** What is wrong with the data; fields that failed for a good reason are left out of it. */
  check?(data: Readonly<Record<string, unknown>>, moment: Moment): string | undefined;
};

/** Counts what happens, and keeps what is wrong. */
export type Judge = {
  /** Judges the answer to a question of a client. */
  answer(client: string, question: Question, answer: Answer, moment: Moment): void;
  /** Judges one update of a subscription; `misfit` is what its check said. */
  update(client: string, kind: string, payload: Answer, misfit: string | undefined): void;
  /** Judges errors by themselves: those that end a subscription. */
  errors(client: string, kind: string, errors: readonly AnswerError[], since: number): void;
  /** Something is wrong that is no answer. */
  wrong(what: string, detail?: unknown): void;
  /** Counts an event. */
  count(what: string, times?: number): void;
  readonly counts: {
    readonly requests: ReadonlyMap<string, number>;
    readonly updates: ReadonlyMap<string, number>;
    readonly errors: ReadonlyMap<string, number>;
    readonly events: ReadonlyMap<string, number>;
    readonly wrong: ReadonlyMap<string, number>;
  };
  /** How many answers and updates were compared with the truth. */
  checked(): number;
  /** How long answers took, by the kind of client. */
  readonly latencies: Latencies;
  /** The first few wrong things, whole. */
  readonly findings: readonly string[];
};

/** What the gateway says where it does not call a node that has answered with many errors. */
const TOO_MANY_ERRORS = 'too many errors in the last minutes';

const FINDINGS_KEPT = 12;
const FINDINGS_KEPT_PER_KIND = 3;
const DETAIL_KEPT = 3_000;

/** Makes the judge of a run; `tell` is told of each of the first wrong things as it happens. */
export function createJudge(outages: Outages, tell: (finding: string) => void): Judge {
  const counts = {
    requests: new Map<string, number>(),
    updates: new Map<string, number>(),
    errors: new Map<string, number>(),
    events: new Map<string, number>(),
    wrong: new Map<string, number>(),
  };
  const findings: string[] = [];
  const latencies = createLatencies();
  let checked = 0;

  function wrong(what: string, detail?: unknown): void {
    const kind = what.split(':')[0] ?? what;
    add(counts.wrong, kind);
    if ((counts.wrong.get(kind) ?? 0) > FINDINGS_KEPT_PER_KIND || findings.length >= FINDINGS_KEPT) return;
    const text = detail === undefined ? '' : `\n${JSON.stringify(detail, undefined, 1).slice(0, DETAIL_KEPT)}`;
    findings.push(`${what}${text}`);
    tell(`${what}${text}`);
  }

  /** Whether an error has a reason that is not the gateway's. */
  function isExplained({ message, extensions = {} }: AnswerError, from: number, to: number): boolean {
    const { code = '', upstream } = extensions;
    if (message.includes('changed while the gateway read them')) return outages.explainReplaced(from, to);
    if (message.includes(TOO_MANY_ERRORS)) return outages.explainTooManyErrors(from, to);
    // Whoever asks for very much makes himself wait, and says so of his questions: anyone else, only a slow upstream.
    if (code === 'UPSTREAM_BUSY' && upstream !== undefined) return !outages.isWell(upstream, from, to);
    return code.startsWith('UPSTREAM_') && upstream !== undefined && outages.explain(upstream, from, to);
  }

  /** @param about what else tells how they came about */
  function judgeErrors(
    whose: string,
    errors: readonly AnswerError[],
    [from, to]: readonly [from: number, to: number],
    about: object = {},
  ): void {
    for (const { extensions } of errors) add(counts.errors, extensions?.code ?? 'without a code');
    const unexplained = errors.filter((error) => !isExplained(error, from, to));
    if (unexplained.length === 0) return;
    // Those of one answer are one finding: of several, more than one moment is then kept.
    wrong(`an error without a cause: ${whose}`, {
      second: Math.round(to / 1_000),
      ms: to - from,
      trouble: outages.told(from, to),
      errors: unexplained,
      ...about,
    });
  }

  return {
    answer(client, question, answer, moment) {
      const { kind, query, variables, fails, knownBy, mayFailWith = [], check } = question;
      const { data, errors = [] } = answer;
      const { sentAt, answeredAt } = moment;
      const trouble = outages.told(sentAt, answeredAt);
      add(counts.requests, kind);
      latencies.note(client.replace(/ \d+$/, ''), answeredAt - sentAt, trouble.length === 0);
      if (fails !== undefined) {
        for (const { extensions } of errors) add(counts.errors, extensions?.code ?? 'without a code');
        const isUnknown = knownBy !== undefined && !outages.isWell(knownBy, sentAt, answeredAt);
        const isRight = ({ extensions, message }: AnswerError) =>
          extensions?.code === fails ||
          (isUnknown && extensions?.upstream === knownBy) ||
          (knownBy !== undefined && message.includes(TOO_MANY_ERRORS) && outages.hasFailedStates(answeredAt));
        if (errors.length > 0 && errors.every(isRight)) checked += 1;
        else wrong(`not ${fails}: ${kind} of ${client}`, { query: query.slice(0, 500), variables, trouble, answer });
        return;
      }
      const owed = errors.filter(({ extensions }) => !mayFailWith.includes(extensions?.code ?? ''));
      judgeErrors(`${kind} of ${client}`, owed, [sentAt, answeredAt], {
        query: query.slice(0, 500),
        variables,
        beaconHeight: data?.['beaconHeight'],
      });
      if (data == null) {
        if (errors.length === 0) wrong(`neither data nor errors: ${kind} of ${client}`, { query, variables, answer });
        return;
      }
      const failed = new Set(errors.map(({ path }) => path?.[0]));
      const rest = Object.fromEntries(Object.entries(data).filter(([name]) => !failed.has(name)));
      const misfit = check?.(rest, moment);
      if (misfit === undefined) checked += 1;
      else wrong(`a wrong answer: ${kind} of ${client}: ${misfit}`, { query, variables, moment, trouble, answer });
    },
    update(client, kind, payload, misfit) {
      add(counts.updates, kind);
      if (misfit === undefined) checked += 1;
      else wrong(`a wrong update: ${kind} of ${client}: ${misfit}`, payload);
    },
    errors: (client, kind, errors, since) => judgeErrors(`${kind} of ${client}`, errors, [since, performance.now()]),
    wrong,
    count: (what, times = 1) => add(counts.events, what, times),
    counts,
    checked: () => checked,
    latencies,
    findings,
  };
}

function add(counts: Map<string, number>, what: string, times = 1): void {
  counts.set(what, (counts.get(what) ?? 0) + times);
}
