import fc from 'fast-check';
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { BTC, ETH, NOBODYS, PRV } from './tokens.ts';

/** Values for arguments, by their names: good ones first, then some that cannot mean anything. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  token1Id: [PRV, BTC, 'x'],
  token2Id: [BTC, PRV, NOBODYS, 4],
  tickerId: ['pBTC_PRV', 'none', ''],
  poolId: ['none'],
  id: [0, `Token:${PRV}`, PRV, `PoolPair:${PRV}-${BTC}`, 'x'],
  ids: [[`Token:${PRV}`, 'x', 'BestBlock:0', `PoolPair:${PRV}-${ETH}`], []],
  first: [2, 0, -1, null],
  last: [null, 2, 501],
  at: [null, 1_640_000, 1_639_000, 0, 9_007_199_254_740_991],
  after: [null, 'x'],
  before: [null, ''],
  depth: [4, 0, -1],
  chainId: [-1, 0, 77],
  decimals1: [9, null, 31],
  decimals2: [9, null, -1],
  orderBy: ['ID_ASC', 'NATIVE_LIQUIDITY_DESC'],
  sellTokenId: [PRV, BTC, 'x'],
  buyTokenId: [BTC, NOBODYS, 4],
  sellAmount: ['1000000000', null, 0, '18446744073709551616'],
  buyAmount: [null, 1, 'x'],
  maxHops: [3, null, 1, 5],
  slippagePercent: [0.5, null, 0, 101],
  interval: ['ONE_HOUR', 'ONE_MINUTE'],
  from: [null, '2026-01-01T00:00:00Z', 'x'],
  to: ['2027-01-01T00:00:00+01:00', null, 4],
  time: ['2026-01-01T00:00:00Z', '2025-12-31T23:00:00Z', 'x'],
  hours: [24, null, 0],
  version: [null, 'V1', 'V3'],
  points: [3, null, 501],
  filter: [null, { tokenId: PRV }, { tokenId: 'x' }, {}],
};

/** The first good value of each argument; `id` means something else to each field. */
function valuesOf(field: string, { name, type }: GraphQLArgument): readonly unknown[] {
  const values = name === 'id' ? (IDS[field] ?? []) : (VALUES[name] ?? []);
  return isNonNullType(type) ? values.filter((value) => value !== null) : values;
}

const IDS: Readonly<Record<string, readonly unknown[]>> = {
  node: [`PoolPair:${PRV}-${BTC}`, `Token:${PRV}`, 'Ticker:none', 'x'],
  token: [PRV, NOBODYS, 'x'],
  shard: [0, 7, 99],
};

/** One operation for each root field, with every field of everything in it, three objects deep. */
export function everyField(schema: GraphQLSchema): [string, string, Record<string, unknown>][] {
  const query = schema.getQueryType() as GraphQLObjectType;
  return Object.values(query.getFields()).map((field) => {
    const writing = createWriting(schema, () => 0);
    return [field.name, writing.operation(writing.field(field, 4, () => true)), writing.variables];
  });
}

/** Any operation that is valid: its fields, aliases, fragments, directives, and arguments in the document or in variables. */
export function randomOperation(
  schema: GraphQLSchema,
): fc.Arbitrary<{ query: string; variableValues: Record<string, unknown> }> {
  return fc.gen().map((gen) => {
    const choose = (count: number) => gen(fc.nat, { max: count - 1 });
    const writing = createWriting(schema, choose);
    const query = writing.operation(
      writing.selection(schema.getQueryType() as GraphQLObjectType, 4, () => choose(4) === 0),
    );
    return { query, variableValues: writing.variables };
  }) as never;
}

type AnyField = GraphQLField<unknown, unknown>;

function createWriting(schema: GraphQLSchema, choose: (count: number) => number) {
  const variables: Record<string, unknown> = {};
  const declarations: string[] = [];
  const fragments: string[] = [];
  let names = 0;

  function variable(type: string, value: unknown): string {
    const name = `v${declarations.length}`;
    declarations.push(`$${name}: ${type}`);
    variables[name] = value;
    return `$${name}`;
  }

  function argument(field: AnyField, arg: GraphQLArgument): string[] {
    const values = valuesOf(field.name, arg);
    if (values.length === 0) return [];
    const value = values[choose(values.length)];
    const isText = choose(2) === 1;
    return [`${arg.name}: ${isText ? literal(value) : variable(String(arg.type), value)}`];
  }

  function write(field: AnyField, depth: number, wants: () => boolean): string {
    const type = getNamedType(field.type);
    const inner = isLeafType(type) ? '' : selection(type as GraphQLObjectType, depth - 1, wants);
    if (inner === undefined) return '';
    const args = field.args.flatMap((arg) => argument(field, arg));
    // Fields of one name with other arguments may not stand side by side, nor those of which only one can be null.
    const isOther =
      args.length > 0 ||
      (field.name === 'poolId' && !isNonNullType(field.type)) ||
      (field.name === 'poolPair' && isNonNullType(field.type));
    const alias = isOther || choose(4) === 3 ? `a${names++}: ` : '';
    return `${alias}${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${directive()}${inner && ` ${inner}`}`;
  }

  function directive(): string {
    const name = ['', '', '', '', '', ' @include', ' @skip'][choose(7)];
    if (!name) return '';
    const value = choose(2) === 1;
    return `${name}(if: ${choose(2) === 1 ? value : variable('Boolean!', value)})`;
  }

  function selection(type: GraphQLObjectType, depth: number, wants: () => boolean): string {
    const fields = Object.values(type.getFields()).filter(wants);
    const written = depth === 0 ? [] : fields.flatMap((field) => selectedOften(type, field, depth, wants));
    const possible = isInterfaceType(type) ? schema.getPossibleTypes(type).filter(isObjectType).filter(wants) : [];
    const ofTypes =
      depth === 0 ? [] : possible.map((each) => `... on ${each.name} ${selection(each, depth - 1, wants)}`);
    return `{ __typename ${[...written, ...ofTypes].join(' ')} }`;
  }

  /** Some fields twice, whose selections are then merged. */
  function selectedOften(type: GraphQLObjectType, field: AnyField, depth: number, wants: () => boolean): string[] {
    const often = choose(6) === 5 ? 2 : 1;
    return Array.from({ length: often }, () => wrap(type, write(field, depth, wants)));
  }

  function wrap(type: GraphQLObjectType, text: string): string {
    const way = choose(8);
    if (way === 7) return `...${directive()} { ${text} }`;
    if (way === 6) return `... on ${type.name} { ${text} }`;
    if (way !== 5) return text;
    fragments.push(`fragment F${fragments.length} on ${type.name} { ${text} }`);
    return `...F${fragments.length - 1}`;
  }

  return {
    variables,
    field: (field: AnyField, depth: number, wants: () => boolean) => `{ ${write(field, depth, wants)} }`,
    selection,
    operation: (text: string) =>
      `query ${declarations.length > 0 ? `(${declarations.join(', ')})` : ''} ${text} ${fragments.join(' ')}`,
  };
}

function literal(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' && /^((ID|NATIVE|ONE)_[A-Z_]+|V[13])$/.test(value) ? value : JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  return `{ ${Object.entries(value)
    .map(([name, part]) => `${name}: ${literal(part)}`)
    .join(', ')} }`;
}
