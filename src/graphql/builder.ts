import SchemaBuilder, {
  BasePlugin,
  type CompatibleTypes,
  type FieldKind,
  type FieldNullability,
  type InputFieldMap,
  type InputShapeFromFields,
  type PothosOutputFieldConfig,
  type SchemaTypes as PothosTypes,
  RootFieldBuilder,
  type TypeParam,
} from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { BestBlock, ChainInfo } from '../domain/chain.ts';
import type { Instant } from '../domain/instant.ts';
import type { Pair, Ticker } from '../domain/market.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import type { Token, TokenId } from '../domain/token.ts';
import type { TradeOfBlock } from '../loaders/pool-trades.ts';
import { type Complexity, IS_CURSOR, objects } from './complexity.ts';
import type { Context } from './context.ts';

/** The TypeScript types of the context and of the scalars. */
type SchemaTypes = {
  Context: Context;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    BigInt: { Input: bigint; Output: bigint };
    Decimal: { Input: string; Output: string };
    DateTime: { Input: Instant; Output: Instant };
    TokenId: { Input: TokenId; Output: TokenId };
    BeaconHeight: { Input: BeaconHeight; Output: BeaconHeight };
  };
};

declare global {
  namespace PothosSchemaTypes {
    // biome-ignore lint/style/useConsistentTypeDefinitions: it is merged with the methods of Pothos
    interface RootFieldBuilder<Types extends PothosTypes, ParentShape, Kind extends FieldKind = FieldKind> {
      /** Creates a field that returns the token with an id. */
      token(idOf: (parent: ParentShape) => TokenId): FieldRef<Types, Token>;
      /** Creates fields of one type that return the properties with their names. */
      exposeAll<Type extends TypeParam<Types>, Name extends CompatibleTypes<Types, ParentShape, Type, false>>(
        type: Type,
        ...names: readonly Name[]
      ): { readonly [Each in Name]: FieldRef<Types> };
    }

    // biome-ignore lint/style/useConsistentTypeDefinitions: it is merged with the options of Pothos
    interface ObjectTypeOptions {
      /** The descriptions of its fields, except those that have their own. */
      fieldDescriptions?: Readonly<Record<string, string>>;
    }

    // biome-ignore lint/style/useConsistentTypeDefinitions: it is merged with the plugins of Pothos
    interface Plugins<Types extends PothosTypes> {
      fieldDescriptions: FieldDescriptions<Types>;
    }

    // biome-ignore lint/style/useConsistentTypeDefinitions: it is merged with the options of Pothos, if its parameters are the same
    interface FieldOptions<
      Types extends PothosTypes = PothosTypes,
      ParentShape = unknown,
      Type extends TypeParam<Types> = TypeParam<Types>,
      Nullable extends FieldNullability<Type> = FieldNullability<Type>,
      Args extends InputFieldMap = InputFieldMap,
    > {
      /** What the field adds to the complexity of an operation; by default, an estimate. `execution/compile.ts` reads it. */
      complexity?: Complexity | ((args: InputShapeFromFields<Args>, context: Pick<Context, 'service'>) => Complexity);
    }
  }
}

/** The plugin of Pothos that adds the descriptions which a type declares to its fields. */
class FieldDescriptions<Types extends PothosTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>) {
    const { pothosOptions } = this.builder.configStore.getTypeConfig(field.parentType);
    const { fieldDescriptions = {} } = pothosOptions as PothosSchemaTypes.ObjectTypeOptions;
    return { ...field, description: field.description ?? fieldDescriptions[field.name] };
  }
}
SchemaBuilder.registerPlugin('fieldDescriptions', FieldDescriptions);

/** The description of the ids that `node` accepts. */
export const NODE_ID = 'Id of the object for `node`: the type, a colon, and a key that is unique within the type.';

/** For each type that `Query.node` finds, a field that its objects always have, and those of the types below never. */
const FIELDS = [
  ['PoolPair', 'reserve1' satisfies keyof PoolPair],
  ['Ticker', 'lastPrice' satisfies keyof Ticker],
  ['Pair', 'tickerId' satisfies keyof Pair],
  ['ChainInfo', 'activeShards' satisfies keyof ChainInfo],
  ['BestBlock', 'blockProducer' satisfies keyof BestBlock],
  ['Token', 'decimals' satisfies keyof Token],
  ['Trade', 'trade' satisfies keyof TradeOfBlock],
] as const;

/** The name of the GraphQL type of an object of the domain that has an id; `undefined` for another value. */
export function typeOfNode(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  return FIELDS.find(([, field]) => field in node)?.[0];
}

/** Collects the types of the schema, which the files in types/ define. Fields are non-null by default. */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [RelayPlugin, 'fieldDescriptions'],
  defaultFieldNullability: false,
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    firstArgOptions: {
      description: 'Maximum number of entries, from the start of the list or after the cursor `after`.',
    },
    afterArgOptions: { description: 'Cursor of the entry before the first one on the page.', extensions: IS_CURSOR },
    lastArgOptions: {
      description: 'Maximum number of entries, from the end of the list or before the cursor `before`.',
    },
    beforeArgOptions: { description: 'Cursor of the entry after the last one on the page.', extensions: IS_CURSOR },
    nodesOnConnection: {
      description: 'Entries of this page without their cursors, in the order of the list.',
      complexity: objects(1),
    },
    nodeTypeOptions: { description: 'An object that `Query.node` finds by its id.', resolveType: typeOfNode },
    edgesFieldOptions: { nullable: { list: false, items: false } },
    nodeFieldOptions: { nullable: false },
    cursorFieldOptions: {
      description: 'Cursor of this entry, for the argument `after`, and for `before` if the list has it.',
    },
    pageInfoFieldOptions: { description: 'Position of this page in the list.' },
    idFieldOptions: { description: NODE_ID },
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    pageInfoTypeOptions: { description: 'Position of a page in its list.' },
    hasNextPageFieldOptions: { description: 'True if the list has entries after this page.' },
    hasPreviousPageFieldOptions: { description: 'True if the list has entries before this page.' },
    startCursorFieldOptions: {
      description:
        'Cursor of the first entry of the page, for the argument `before`, which `PoolPair.trades` does not have. Null if the page is empty.',
    },
    endCursorFieldOptions: {
      description: 'Cursor of the last entry of the page, for the argument `after`. Null if the page is empty.',
    },
  },
});

builder.queryType({ description: 'All queries. Each response describes one beacon height.' });
builder.subscriptionType({
  description:
    'All subscriptions. Except `priceCrossed`, each one sends the current value first, then each change. `prices` and `trades` that resume send the missed heights first.',
});

/**
 * The interface of objects with an id. Each type defines its field `id` itself: the one of the Relay plugin creates a promise
 * for each object, which takes most of the time and memory of a long list.
 */
export const NodeRef = builder.nodeInterfaceRef();

// The types whose fields return each other. Their fields are declared in types/.
export const PairRef = builder.objectRef<Pair>('Pair');
export const PoolPairRef = builder.objectRef<PoolPair>('PoolPair');
export const TickerRef = builder.objectRef<Ticker>('Ticker');
export const TokenRef = builder.objectRef<Token>('Token');

// The methods that are declared above.
Object.assign(RootFieldBuilder.prototype, {
  token(this: { field(options: object): unknown }, idOf: (parent: unknown) => TokenId) {
    const resolve = (parent: unknown, _args: object, { loaders }: Context) => loaders.tokens.get(idOf(parent));
    return this.field({ type: TokenRef, resolve });
  },
  exposeAll(this: { expose(name: string, options: object): unknown }, type: unknown, ...names: readonly string[]) {
    return Object.fromEntries(names.map((name) => [name, this.expose(name, { type })]));
  },
});
