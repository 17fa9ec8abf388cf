import type { FieldNode, GraphQLError, GraphQLFieldResolver, GraphQLResolveInfo, VariableValues } from 'graphql';
import type { Complexity } from '../complexity.ts';
import type { Context, Service } from '../context.ts';
import type { Arguments } from './arguments.ts';
import type { FieldErrors, Place } from './field-errors.ts';
import type { TimeSlice } from './time-slice.ts';

/** An operation, compiled: its root selection with everything in it. */
export type OperationPlan = {
  readonly root: ObjectPlan;
  /** The number of fields in all selections. */
  readonly size: number;
  /** Coerces the arguments that contain variables. An invalid argument is an error in its place. */
  readArguments(variables: VariableValues): readonly Arguments[];
};

/** How an object of one type is written, for one selection. */
export type ObjectPlan = {
  readonly typename: string;
  readonly fields: readonly FieldPlan[];
  /** Why its objects cannot be written: a directive that cannot be read. */
  readonly failure: GraphQLError | undefined;
  /** Whether variables stand among the arguments, in it or inside of it. */
  readonly hasVariables: boolean;
  /** Whether its objects are written the same in many answers, so that their texts are worth keeping. */
  readonly isPart: boolean;
  /** Its cost, if that is the same for all variables and at all times. */
  readonly fixedCost: SelectionCost | undefined;
  /** How deep selections and fragments are nested in it, with itself. */
  readonly nesting: number;
  /** How deep its fields are nested, without those of introspection. */
  readonly depth: number;
};

/** The estimated size of one object, for one selection. */
export type SelectionCost = {
  readonly objects: number;
  /** The part of `objects` for each entry of the lists in it whose length only the field around it may know. */
  readonly objectsPerEntry: number;
  readonly schemaObjects: number;
  readonly values: number;
  /** The part of `values` for each entry of such lists. */
  readonly valuesPerEntry: number;
};

/** How one field of a selection is written. */
export type FieldPlan = {
  /** Its name in the answer. */
  readonly name: string;
  /** What stands before its value; for `__typename`, which is known, the value too. */
  readonly opening: string;
  readonly nodes: readonly FieldNode[];
  /** What it is called in its object, where that is all that it resolves to. */
  readonly property: string;
  /** How it is resolved otherwise. */
  readonly resolve: GraphQLFieldResolver<unknown, Context> | undefined;
  readonly info: GraphQLResolveInfo;
  /** Its arguments, or where they are among those of the execution because there are variables in them. */
  readonly args: Arguments | Error | number;
  /** Whether something may be wrong with its arguments: an error stands in their place then. */
  readonly mayFail: boolean;
  readonly isNullable: boolean;
  /** Writes most values of a leaf; `undefined` for one that {@link write} has to look at. */
  readonly writeQuickly: ((value: unknown) => string | undefined) | undefined;
  /** Writes what it resolves to; `undefined` where that stands in `opening`. */
  readonly write: WriteValue | undefined;
  /** Starts the source stream of a subscription. */
  readonly subscribe: GraphQLFieldResolver<unknown, Context> | undefined;
  /** The plans of its value, one for each type that the value can have. */
  readonly selections: readonly ObjectPlan[];
  readonly complexity: Complexity | EstimateComplexity;
  /** Whether it is a field of introspection. */
  readonly isOfSchema: boolean;
};

/** Estimates the complexity of a field from its arguments and from what the gateway serves now. */
type EstimateComplexity = (args: object, context: { readonly service: Service }) => Complexity;

/** JSON, or a promise of it where something in it has to be waited for. */
export type Written = string | Promise<string>;

/** One execution of an operation. */
export type Execution = {
  readonly context: Context;
  /** The arguments of the fields that have variables among them. */
  readonly args: readonly Arguments[];
  /** What went wrong where null may stand. */
  readonly errors: FieldErrors;
  /** How long it has been written at once; `undefined` for what is written without an interruption. */
  readonly slice: TimeSlice | undefined;
};

/** Writes the value of a field, or of an entry of a list, as JSON. @throws what is wrong with it */
export type WriteValue = (value: unknown, around: Place, key: string | number, execution: Execution) => Written;
