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
import { overlappingFields, TooTangledError } from './overlapping-fields.ts';
import { refusal } from './refusal.ts';
import { explainDirective } from './unknown-directive.ts';

/** Validates documents against one schema. The errors do not say where in the document they are: their nodes do. */
export type Validation = {
  /** All rules at once. */
  whole(document: DocumentNode): readonly GraphQLError[];
  /** The same in parts, each of which takes a fraction of the time. */
  readonly steps: readonly ((document: DocumentNode) => readonly GraphQLError[])[];
};

/** Rules that share what they find out about fragments and variables. */
const ABOUT_FRAGMENTS: readonly ValidationRule[] = [
  KnownFragmentNamesRule,
  NoUnusedFragmentsRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedVariablesRule,
  VariablesInAllowedPositionRule,
];

/** graphql-js validates all rules side by side; a third of them at a time is a third of the work. */
const PARTS_OF_OTHERS = 3;

/** Makes the validation: the rules of graphql-js, one of them in a way that takes no longer for fields of one name. */
export function createValidation(schema: GraphQLSchema): Validation {
  const rules = specifiedRules.map((rule) => (rule === OverlappingFieldsCanBeMergedRule ? overlappingFields : rule));
  const alone = [overlappingFields, ValuesOfCorrectTypeRule, ...ABOUT_FRAGMENTS];
  const others = rules.filter((rule) => !alone.includes(rule));
  const size = Math.ceil(others.length / PARTS_OF_OTHERS);
  const parts = [
    // First: what comes in a circle is not compared.
    { rules: ABOUT_FRAGMENTS },
    { rules: [overlappingFields] },
    // Each error prints the literal that it is about, which can be all of a large document.
    { rules: [ValuesOfCorrectTypeRule], maxErrors: 5 },
    ...Array.from({ length: PARTS_OF_OTHERS }, (_, part) => ({ rules: others.slice(part * size, (part + 1) * size) })),
  ];
  return {
    whole: (document) => validateBy(schema, document, { rules }),
    steps: parts.map((part) => (document) => validateBy(schema, document, part)),
  };
}

/** Some rules, and after how many errors the validation by them ends. */
type Part = { readonly rules: readonly ((context: never) => ASTVisitor)[]; readonly maxErrors?: number };

function validateBy(
  schema: GraphQLSchema,
  document: DocumentNode,
  { rules, maxErrors = MAX_ERRORS }: Part,
): readonly GraphQLError[] {
  if (hasTooManyUses(document)) return [tooTangled()];
  try {
    const errors = withoutStacks(() => validate(schema, document, rules as readonly ValidationRule[], { maxErrors }));
    return errors.some(isAborted)
      ? [tooTangled()]
      : errors.map((error, index) => (index < maxErrors ? error : tooMany(maxErrors))).map(explainDirective);
  } catch (error) {
    if (error instanceof TooTangledError) return [tooTangled()];
    // Validation walks down by calling itself: what is too deep for it depends on the stack it happens to have.
    if (error instanceof RangeError) return [tooDeep()];
    throw error;
  }
}

/** graphql-js gives up on a document whose fragments make it work for long. */
function isAborted({ message }: GraphQLError): boolean {
  return message === 'Validation aborted.';
}

/** graphql-js stops at the last error that is reported: how many more there are, nobody knows. */
function tooMany(maxErrors: number): GraphQLError {
  const { code } = new TooManyErrorsError(1);
  return new GraphQLError(`Validation stopped after ${maxErrors} errors.`, {
    extensions: { code },
  });
}

/**
 * Whether the variables of a document take too long to check: graphql-js looks at each use in a fragment once for each
 * operation that spreads it. There are no more uses than dollar signs.
 */
function hasTooManyUses(document: DocumentNode): boolean {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  if (operations <= 1) return false;
  const dollars = (textOf(document) ?? '').split('$', MAX_USES).length - 1;
  return operations * dollars > MAX_USES;
}

/** How many uses of variables are looked at. */
const MAX_USES = 20_000;

function tooTangled(): GraphQLError {
  return refusal(
    'QUERY_TOO_COMPLEX',
    'The document has too many fields with the same name, or too many variables in several operations.',
  );
}

/** The error of a document that is nested too deeply. */
export function tooDeep(): GraphQLError {
  return refusal('QUERY_TOO_COMPLEX', 'The document is nested too deeply.');
}
