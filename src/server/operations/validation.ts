import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getEnterLeaveForKind,
  type Kind,
  NoUndefinedVariablesRule,
  NoUnusedVariablesRule,
  OverlappingFieldsCanBeMergedRule,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  type ValueNode,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
  validate,
  validateInputLiteral,
} from 'graphql';
import type { ErrorCode } from '../../domain/error-codes.ts';
import { MAX_ERRORS, withoutStacks } from '../../errors.ts';
import { textOf } from '../../graphql/document-source.ts';
import { tooDeep, tooManyComparisons } from './document-bounds.ts';
import { overlappingFields } from './overlapping-fields.ts';

/** Rules about the variables of a document. */
const VARIABLE_RULES: readonly ValidationRule[] = [
  NoUndefinedVariablesRule,
  NoUnusedVariablesRule,
  VariablesInAllowedPositionRule,
];

/** The number of steps. graphql-js checks all rules in one visit, so a part of them takes about as large a part of the time. */
const STEPS = 6;

/** Creates the validation: the rules of graphql-js, except for {@link overlappingFields} and {@link valuesOfCorrectType}. */
export function createValidation(schema: GraphQLSchema) {
  const rules = specifiedRules.map((rule) => OWN_RULES.get(rule) ?? rule);
  const size = Math.ceil(rules.length / STEPS);
  const steps = Array.from({ length: STEPS }, (_, index) => rules.slice(index * size, (index + 1) * size));
  // In a document without a dollar sign, they would visit each operation again, and find no variable.
  const rulesWithoutVariables = rules.filter((rule) => !VARIABLE_RULES.includes(rule));
  return {
    /** Validates a document by all rules. */
    validate: (document: DocumentNode) =>
      validateBy(schema, document, textOf(document)?.includes('$') === false ? rulesWithoutVariables : rules),
    /** The same in steps, each of which takes a fraction of the time. */
    steps: steps.map((step) => (document: DocumentNode) => validateBy(schema, document, step)),
  };
}

const OWN_RULES: ReadonlyMap<ValidationRule, ValidationRule> = new Map([
  [OverlappingFieldsCanBeMergedRule, overlappingFields],
  [ValuesOfCorrectTypeRule, valuesOfCorrectType],
]);

function validateBy(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[],
): readonly GraphQLError[] {
  try {
    const errors = withoutStacks(() => validate(schema, document, [together(rules)], { maxErrors: MAX_ERRORS }));
    // graphql-js aborts for documents whose fragments take long to validate.
    return errors.some(({ message }) => message === 'Validation aborted.')
      ? [tooManyComparisons()]
      : errors.map((error, index) => (index < MAX_ERRORS ? error : tooManyErrors()));
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    // Validation is recursive. How deep it can go depends on the stack that is left.
    if (error instanceof RangeError) return [tooDeep()];
    throw error;
  }
}

/** How one rule visits nodes of one kind, with the index of the rule. */
type RuleVisitor = ReturnType<typeof getEnterLeaveForKind> & { readonly index: number };

/**
 * Several rules as one. graphql-js builds the visitors of all kinds of nodes for all rules at each call, which takes half of the
 * time of a short document. Here the visitors of a kind are built when the document has a node of this kind.
 */
function together(rules: readonly ValidationRule[]): ValidationRule {
  return (context) => {
    const visitors = rules.map((rule) => rule(context));
    const byKind = new Map<Kind, readonly RuleVisitor[]>();
    /** The node that each rule skips with everything inside. */
    const skipped = new Array<ASTNode | undefined>(rules.length);

    function visitorsOf(kind: Kind): readonly RuleVisitor[] {
      const known = byKind.get(kind);
      if (known !== undefined) return known;
      const found = visitors
        .map((visitor, index) => ({ ...getEnterLeaveForKind(visitor, kind), index }))
        .filter(({ enter, leave }) => enter !== undefined || leave !== undefined);
      byKind.set(kind, found);
      return found;
    }

    return {
      enter(node, ...place) {
        for (const { enter, index } of visitorsOf(node.kind)) {
          if (skipped[index] !== undefined) continue;
          if (enter?.(node, ...place) === false) skipped[index] = node;
        }
      },
      leave(node, ...place) {
        for (const { leave, index } of visitorsOf(node.kind)) {
          if (skipped[index] === undefined) leave?.(node, ...place);
          else if (skipped[index] === node) skipped[index] = undefined;
        }
      },
    };
  };
}

/** Minimum length of a long literal, in characters. */
const MIN_LONG_LITERAL = 200;

/** Thrown after the first error of a long literal. */
const STOP = new Error('A long literal has an error.');

/**
 * The rule "Values of Correct Type" of the specification, as in graphql-js, but with one error at most for a long literal: each
 * error quotes the whole literal, which can be nearly all of a large document.
 */
function valuesOfCorrectType(context: ValidationContext): ASTVisitor {
  /** @returns false, so that the values inside of the literal are not visited */
  function check(node: ValueNode, type: GraphQLInputType | null | undefined): false {
    if (type == null) return false;
    const { start = 0, end = 0 } = node.loc ?? {};
    try {
      validateInputLiteral(node, type, (error) => {
        context.reportError(error);
        if (end - start >= MIN_LONG_LITERAL) throw STOP;
      });
    } catch (error) {
      if (error !== STOP) throw error;
    }
    return false;
  }

  const visit = (node: ValueNode) => check(node, context.getInputType());
  const scalars = { NullValue: visit, EnumValue: visit, IntValue: visit, FloatValue: visit, StringValue: visit };
  return {
    ...scalars,
    BooleanValue: visit,
    ObjectValue: visit,
    ListValue: (node) => check(node, context.getParentInputType()),
  };
}

/** The last error. graphql-js stops at the maximum, so the number of further errors is not known. */
function tooManyErrors(): GraphQLError {
  const code: ErrorCode = 'TOO_MANY_ERRORS';
  return new GraphQLError(`Validation stopped after ${MAX_ERRORS} errors.`, { extensions: { code } });
}
