import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Operation } from '../graphql/cost.ts';
import type { Admission } from './admission.ts';

/**
 * Refuses operations that ask for too much.
 *
 * Not a validation rule: Yoga keeps the outcome of validation by document, whatever the variables and the operation
 * selected.
 */
export function useOperationLimits(admission: Admission): Plugin {
  function check(operation: Operation, refuse: (result: { errors: [GraphQLError] }) => void): void {
    const refusal = admission.refusalOf(operation);
    if (refusal !== undefined) refuse({ errors: [refusal] });
  }

  return {
    onExecute: ({ args, setResultAndStopExecution }) => check(args, setResultAndStopExecution),
    onSubscribe: ({ args, setResultAndStopExecution }) => check(args, setResultAndStopExecution),
  };
}
