import { parseAst } from 'rolldown/parseAst';

/** A use of a name above its declaration in the same function, by a closure that may only be called below it. */
export type EarlyUse = { readonly name: string; readonly line: number };

type SyntaxNode = { readonly type: string; readonly start: number; readonly [key: string]: unknown };

/** Where the names of a block are declared: their positions, and 0 for what can be used everywhere in it. */
type Scope = { readonly parent: Scope | undefined; readonly declaredAt: ReadonlyMap<string, number> };

/**
 * Finds all early uses of constants, variables and classes in a module.
 *
 * Functions are hoisted, and what a module declares is there before its functions are called: both may be used above.
 */
export function findEarlyUses(text: string): EarlyUse[] {
  const uses: EarlyUse[] = [];

  function visit(node: SyntaxNode, outer: Scope): void {
    if (node.type.startsWith('TS') && !TYPED_EXPRESSIONS.has(node.type)) return;
    const declared = declarationsIn(node);
    const scope = declared.length === 0 ? outer : { parent: outer, declaredAt: new Map(declared) };
    if (node.type === 'Identifier') {
      const name = String(node['name']);
      if (node.start < declarationOf(name, scope))
        uses.push({ name, line: text.slice(0, node.start).split('\n').length });
    }
    for (const key in node) {
      const isName = (key === 'key' || key === 'property') && node['computed'] === false;
      if (!isName) for (const child of nodesIn(node[key])) visit(child, scope);
    }
  }

  for (const node of nodesIn(parseAst(text, { lang: 'ts' }).body))
    visit(node, { parent: undefined, declaredAt: new Map() });
  return uses;
}

const TYPED_EXPRESSIONS = new Set([
  'TSAsExpression',
  'TSNonNullExpression',
  'TSParameterProperty',
  'TSSatisfiesExpression',
]);

function declarationOf(name: string, scope: Scope | undefined): number {
  return scope === undefined ? 0 : (scope.declaredAt.get(name) ?? declarationOf(name, scope.parent));
}

/** The names of the scope that a node opens. */
function declarationsIn(node: SyntaxNode): (readonly [name: string, position: number])[] {
  const everywhere = [...nodesIn(node['params']), ...nodesIn(node['param'])].flatMap(namesOf);
  const statements = [node['body'], node['init'], node['left'], node['consequent']].flatMap(nodesIn);
  const declarations = statements.flatMap((statement) => {
    if (statement.type === 'VariableDeclaration') return nodesIn(statement['declarations']);
    return statement.type === 'ClassDeclaration' || statement.type === 'FunctionDeclaration' ? [statement] : [];
  });
  return [
    ...everywhere.map((name) => [name, 0] as const),
    ...declarations.flatMap((each) =>
      nodesIn(each['id'])
        .flatMap(namesOf)
        .map((name) => [name, each.type === 'FunctionDeclaration' ? 0 : each.start] as const),
    ),
  ];
}

/** The names that a pattern declares. */
function namesOf(pattern: SyntaxNode): string[] {
  if (pattern.type === 'Identifier') return [String(pattern['name'])];
  const parts = ['properties', 'elements', 'value', 'left', 'argument', 'parameter'];
  return parts.flatMap((part) => nodesIn(pattern[part])).flatMap(namesOf);
}

function nodesIn(value: unknown): SyntaxNode[] {
  if (typeof value !== 'object') return [];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((each): each is SyntaxNode => typeof each === 'object' && each !== null && 'type' in each);
}
