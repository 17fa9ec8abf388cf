import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  KnownFragmentNamesRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  OverlappingFieldsCanBeMergedRule,
  specifiedRules,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
  validate,
} from 'graphql';
import { MAX_ERRORS, TooManyErrorsError, withoutStacks } from '../../errors.ts';
import { textOf } from '../../graphql/document-source.ts';
import { overlappingFields, TooManyComparisonsError } from './overlapping-fields.ts';
import { refusal } from './refusal.ts';

/** Validates documents against one schema. */
type Validation = {
  /** Validates a document by all rules. */
  validate(document: DocumentNode): readonly GraphQLError[];
  /** The same in steps, each of which takes a fraction of the time. */
  readonly steps: readonly ((document: DocumentNode) => readonly GraphQLError[])[];
};

/** Rules about fragments and variables, which share intermediate results. */
const FRAGMENT_RULES: readonly ValidationRule[] = [
  KnownFragmentNamesRule,
  NoUnusedFragmentsRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedVariablesRule,
  VariablesInAllowedPositionRule,
];

/** The number of steps for the other rules. graphql-js checks all rules in one visit, so a third of them takes a third of the time. */
const STEPS_OF_OTHERS = 3;

/** Creates the validation: the rules of graphql-js, but {@link overlappingFields} instead of its quadratic rule. */
export function createValidation(schema: GraphQLSchema): Validation {
  const rules = specifiedRules.map((rule) => (rule === OverlappingFieldsCanBeMergedRule ? overlappingFields : rule));
  const alone = [overlappingFields, ValuesOfCorrectTypeRule, ...FRAGMENT_RULES];
  const others = rules.filter((rule) => !alone.includes(rule));
  const size = Math.ceil(others.length / STEPS_OF_OTHERS);
  const steps = [
    // First, because fragments that form a cycle must not be compared.
    { rules: FRAGMENT_RULES },
    { rules: [overlappingFields] },
    // Each error contains the literal that it is about, which can be nearly all of a large document.
    { rules: [ValuesOfCorrectTypeRule], maxErrors: 2 },
    ...Array.from({ length: STEPS_OF_OTHERS }, (_, index) => ({
      rules: others.slice(index * size, (index + 1) * size),
    })),
  ];
  return {
    validate: (document) => validateBy(schema, document, { rules }),
    steps: steps.map((step) => (document) => validateBy(schema, document, step)),
  };
}

/** Some rules, and the number of errors after which validation stops. */
type Step = { readonly rules: readonly ((context: never) => ASTVisitor)[]; readonly maxErrors?: number };

function validateBy(
  schema: GraphQLSchema,
  document: DocumentNode,
  { rules, maxErrors = MAX_ERRORS }: Step,
): readonly GraphQLError[] {
  if (hasTooManyUses(document)) return [tooManyComparisons()];
  try {
    const errors = withoutStacks(() => validate(schema, document, rules as readonly ValidationRule[], { maxErrors }));
    return errors.some(isAborted)
      ? [tooManyComparisons()]
      : errors.map((error, index) => (index < maxErrors ? error : tooMany(maxErrors))).map(explainDirective);
  } catch (error) {
    if (error instanceof TooManyComparisonsError) return [tooManyComparisons()];
    // Validation is recursive. How deep it can go depends on the stack that is left.
    if (error instanceof RangeError) return [tooDeep()];
    throw error;
  }
}

/** graphql-js aborts for documents whose fragments take long to validate. */
function isAborted({ message }: GraphQLError): boolean {
  return message === 'Validation aborted.';
}

/** The last error. graphql-js stops at the maximum, so the number of further errors is not known. */
function tooMany(maxErrors: number): GraphQLError {
  const { code } = new TooManyErrorsError(1);
  return new GraphQLError(`Validation stopped after ${maxErrors} errors.`, {
    extensions: { code },
  });
}

/**
 * Whether the variables of a document take too long to check: graphql-js checks each use in a fragment once for each operation
 * that spreads the fragment. The number of dollar signs is an upper bound for the number of uses.
 */
function hasTooManyUses(document: DocumentNode): boolean {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  if (operations <= 1) return false;
  const dollars = (textOf(document) ?? '').split('$', MAX_USES).length - 1;
  return operations * dollars > MAX_USES;
}

/** Maximum number of checks of variables. */
const MAX_USES = 20_000;

function tooManyComparisons(): GraphQLError {
  return refusal(
    'QUERY_TOO_COMPLEX',
    'The document has too many fields with the same name, or too many variables in several operations.',
  );
}

/** The error of a document that is nested too deeply. */
export function tooDeep(): GraphQLError {
  return refusal('QUERY_TOO_COMPLEX', 'The document is nested too deeply.');
}

/**
 * Explains the error about a directive of incremental delivery, which the schema does not have. Other errors stay as they are.
 *
 * A response is about one height that is in memory, so no part of it would arrive earlier than the rest.
 */
function explainDirective(error: GraphQLError): GraphQLError {
  const [, name] = UNKNOWN.exec(error.message) ?? [];
  if (name === undefined) return error;
  const message = `Unknown directive "@${name}": the gateway does not support incremental delivery. Remove the directive to receive the complete response.`;
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    extensions: error.extensions,
  });
}

const UNKNOWN = /^Unknown directive "@(defer|stream)"\.$/;
