import type { FieldNode, GraphQLError, GraphQLField, GraphQLResolveInfo, VariableValues } from 'graphql';
import type { Complexity } from '../complexity.ts';
import type { Context, Service } from '../context.ts';
import type { Arguments } from './arguments.ts';
import type { FieldErrors, Place } from './field-errors.ts';
import type { TimeSlice } from './time-slice.ts';
import type { JsonText } from './written-result.ts';

/** Stands for all selections, of whatever document, by which an object is written as the same JSON. */
export type Shape = { readonly id: number };

/** An operation, compiled: its root selection with everything in it. */
export type OperationPlan = {
  readonly root: ObjectPlan;
  /** The number of fields in all selections. */
  readonly size: number;
  /** Whether it caches the JSON of its objects. Not at its first use, if one of its shapes is new: it may never be used again. */
  readonly isCaching: boolean;
  /** The names of the variables in arguments, each as often as it is used. */
  readonly usedVariables: readonly string[];
  /** Coerces the arguments that contain variables. An invalid argument is an error in its place. */
  readArguments(variables: VariableValues): readonly Arguments[];
};

/** How an object of one type is written, for one selection. */
export type ObjectPlan = {
  readonly fields: readonly FieldPlan[];
  /** The error of an invalid directive: its objects cannot be written. */
  readonly failure: GraphQLError | undefined;
  /** The same for equal selections of all documents; `undefined` if it depends on variables, or is very long. */
  readonly shape: Shape | undefined;
  /** Whether the JSON of its objects is cached by its shape, because it is the same in many responses. */
  readonly isCacheable: boolean;
};

/** How one field of a selection is written. */
export type FieldPlan = {
  /** Its response name. */
  readonly name: string;
  /** The text before its value. For `__typename`, it includes the value. */
  readonly opening: string;
  readonly nodes: readonly FieldNode[];
  readonly definition: GraphQLField<unknown, Context>;
  readonly info: GraphQLResolveInfo;
  /** Its arguments, or the error of invalid ones. If they contain variables, their index in `Execution.args`. */
  readonly args: Arguments | Error | number;
  readonly isNullable: boolean;
  /** Writes its value; `undefined` if `opening` includes the value. */
  readonly write: WriteValue | undefined;
  /** The plans of its value, one for each type that the value can have. */
  readonly selections: readonly ObjectPlan[];
  /** What it adds to the complexity of the operation, or how to estimate that from its arguments and from what the gateway serves now. */
  readonly complexity: Complexity | ((args: object, context: { readonly service: Service }) => Complexity);
  /** Whether it is a field of introspection. */
  readonly isOfSchema: boolean;
  /** Finds the beacon heights that its arguments name; `undefined` if they cannot. */
  readonly findHeights: ((args: Arguments) => readonly number[]) | undefined;
  /** Whether its value is always a promise, so that the JSON of its object is not cached. */
  readonly isAwaited: boolean;
};

/** JSON, or a promise of it if a value in it is a promise. */
export type Written = string | Promise<JsonText>;

/** One execution of an operation. */
export type Execution = {
  readonly context: Context;
  /** The arguments of the fields whose arguments contain variables. */
  readonly args: readonly Arguments[];
  /** The errors of nullable fields and entries. */
  readonly errors: FieldErrors;
  /** See `OperationPlan`. */
  readonly isCaching: boolean;
  /** `undefined` for an object that is written without yielding to the event loop. */
  readonly slice: TimeSlice | undefined;
};

/** Writes the value of a field, or of an entry of a list, as JSON. @throws the error of the value */
export type WriteValue = (value: unknown, around: Place, key: string | number, execution: Execution) => Written;
