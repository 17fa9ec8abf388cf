import type { Goal } from '../goal.ts';
import { everyPool } from '../operations.ts';
import { benchmarkQueries, type QueryCase, SCHEDULE, scheduleOf, targetsOf } from '../query-benchmark.ts';
import type { Row } from '../row.ts';
import { GATEWAY, MERCURIUS_JIT, startPageTargets, TAILCALL, YOGA } from '../targets.ts';

/** The numbers of pools in each response. */
const [FEW, MANY] = [55, 1_000];

const TARGETS = { start: startPageTargets };

/** The number of documents. Together they are longer than the gateway's cache of documents, so none is found there again. */
const DOCUMENTS = 6_000;

const goal = (value: number, size: number): Goal => ({
  target: GATEWAY,
  baseline: { target: [MERCURIUS_JIT, 'Apollo Server', YOGA, TAILCALL], by: 'ratio' },
  bound: 'at least',
  value,
  sizes: [size],
});

const CASE: QueryCase = {
  title: 'Documents never seen: another alias each time',
  about: 'Each request has a text of its own, which differs in an alias, and asks for all pools.',
  operations: (snapshot) => Array.from({ length: DOCUMENTS }, (_, index) => everyPool(snapshot, `p${index}`)),
  isRepeated: false,
  goals: [goal(1.1, FEW), goal(2, MANY)],
};

/** Queries whose documents no server has seen before. */
export const newDocuments: Row = {
  name: 'new-documents',
  comparesCheckouts: true,
  run: (context) =>
    benchmarkQueries(
      context,
      scheduleOf(context, { ...SCHEDULE, sizes: [FEW, MANY] }),
      targetsOf(context, TARGETS, 'http'),
      [CASE],
    ),
};
