import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Operation } from '../../graphql/cost.ts';
import type { Admission } from '../clients/admission.ts';
import type { Metrics } from '../metrics/metrics.ts';

/**
 * Refuses operations that ask for too much.
 *
 * Not a validation rule: Yoga keeps the outcome of validation by document, whatever the variables and the operation
 * selected. It stands before what counts executions: nothing is executed here.
 */
export function useOperationLimits(admission: Admission, metrics: Metrics): Plugin {
  function check(operation: Operation, refuse: (result: { errors: [GraphQLError] }) => void): void {
    const refusal = admission.refusalOf(operation);
    if (refusal === undefined) return;

    // What is over a rate is counted by itself, on every door.
    if (refusal.extensions['code'] !== 'RATE_LIMITED') metrics.refusedOperation();
    refuse({ errors: [refusal] });
  }

  return {
    onExecute: ({ args, setResultAndStopExecution }) => check(args, setResultAndStopExecution),
    onSubscribe: ({ args, setResultAndStopExecution }) => check(args, setResultAndStopExecution),
  };
}
