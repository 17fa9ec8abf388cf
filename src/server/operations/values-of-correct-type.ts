import {
  type ASTVisitor,
  type GraphQLError,
  type ValidationContext,
  type ValueNode,
  ValuesOfCorrectTypeRule,
} from 'graphql';

/** Minimum length of a long literal, in characters. */
const MIN_LONG_LITERAL = 200;

/** Thrown after the first error of a long literal. */
const STOP = new Error('A long literal has an error.');

/**
 * The rule "Values of Correct Type" of the specification, as in graphql-js, but with one error at most for a long literal: each
 * error quotes the whole literal, which can be nearly all of a large document.
 */
export function valuesOfCorrectType(context: ValidationContext): ASTVisitor {
  let isLong = false;
  const reporting = Object.create(context, {
    reportError: {
      value(error: GraphQLError) {
        context.reportError(error);
        if (isLong) throw STOP;
      },
    },
  }) as ValidationContext;
  const visitors = Object.entries(ValuesOfCorrectTypeRule(reporting)) as [string, (node: ValueNode) => false][];

  const limit = (visitLiteral: (node: ValueNode) => false) => (node: ValueNode) => {
    const { start = 0, end = 0 } = node.loc ?? {};
    isLong = end - start >= MIN_LONG_LITERAL;
    try {
      return visitLiteral(node);
    } catch (error) {
      if (error !== STOP) throw error;
      // As from the rule itself: the values inside of the literal are not visited.
      return false;
    }
  };
  return Object.fromEntries(visitors.map(([kind, visitLiteral]) => [kind, limit(visitLiteral)]));
}
