import type { Plugin } from 'graphql-yoga';
import { GatewayError } from '../errors.ts';
import { type Operation, requireAffordable } from '../graphql/cost.ts';
import type { Limits } from '../graphql/limits.ts';
import { refusal } from './refusal.ts';

/**
 * Refuses operations that ask for too much.
 *
 * Not a validation rule: Yoga keeps the outcome of validation by document, whatever the variables and the operation
 * selected.
 */
export function useOperationLimits(limits: Limits): Plugin {
  function check(operation: Operation, refuse: (result: { errors: [ReturnType<typeof refusal>] }) => void): void {
    try {
      requireAffordable(operation, limits);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refuse({ errors: [refusal(error.code, error.message)] });
    }
  }

  return {
    onExecute: ({ args, setResultAndStopExecution }) => check(args, setResultAndStopExecution),
    onSubscribe: ({ args, setResultAndStopExecution }) => check(args, setResultAndStopExecution),
  };
}
