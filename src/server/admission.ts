import type { GraphQLError } from 'graphql';
import { GatewayError } from '../errors.ts';
import { type Operation, type OperationCost, requireAffordable } from '../graphql/cost.ts';
import type { Limits } from '../graphql/limits.ts';
import { refusal } from './refusal.ts';

/**
 * Decides whether operations may be executed. Each is measured once, by whichever door it comes and however often it is
 * asked for: an operation is known by its context.
 */
export type Admission = {
  /** About how many values one answer holds; 0 for an operation that is refused. */
  valuesOf(operation: Operation): number;
  /** Why an operation is not executed, where it is not. */
  refusalOf(operation: Operation): GraphQLError | undefined;
};

type Measured = { readonly cost: OperationCost } | { readonly refusal: GraphQLError };

/** Makes what holds operations to the limits. */
export function createAdmission(limits: Limits): Admission {
  const known = new WeakMap<object, Measured>();

  function measureOnce(operation: Operation): Measured {
    const measured = known.get(operation.contextValue) ?? measure(operation, limits);
    known.set(operation.contextValue, measured);
    return measured;
  }

  return {
    valuesOf(operation) {
      const measured = measureOnce(operation);
      return 'cost' in measured ? measured.cost.values : 0;
    },
    refusalOf(operation) {
      const measured = measureOnce(operation);
      return 'refusal' in measured ? measured.refusal : undefined;
    },
  };
}

function measure(operation: Operation, limits: Limits): Measured {
  try {
    return { cost: requireAffordable(operation, limits) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { refusal: refusal(error.code, error.message) };
  }
}
