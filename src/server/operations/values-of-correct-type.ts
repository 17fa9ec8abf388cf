import {
  type ASTVisitor,
  type GraphQLInputType,
  type ValidationContext,
  type ValueNode,
  validateInputLiteral,
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
