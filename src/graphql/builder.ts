import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import RelayPlugin from '@pothos/plugin-relay';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { TokenId } from '../domain/token-id.ts';
import { estimateField, objects } from './complexity.ts';
import type { Context } from './context.ts';

/** What the builder knows of our scalars and context: what resolvers take and give. */
export type SchemaTypes = {
  Context: Context;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    BigInt: { Input: never; Output: bigint };
    Decimal: { Input: never; Output: string };
    DateTime: { Input: never; Output: Instant };
    TokenId: { Input: TokenId; Output: TokenId };
    BeaconHeight: { Input: BeaconHeight; Output: BeaconHeight };
  };
};

/** What every object that can be read again says of its id. Ids are readable, so that a person can write one. */
export const NODE_ID =
  'What `node` finds this object by: its type, a colon, and what tells it from others of its type.';

/** Collects the types of the schema; it defines none itself. Fields are non-null unless they say otherwise. */
export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [RelayPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  relay: {
    clientMutationId: 'omit',
    cursorType: 'String',
    firstArgOptions: { description: 'How many, from the start or from behind `after`.' },
    afterArgOptions: { description: 'The cursor to go on behind.' },
    lastArgOptions: { description: 'How many, from the end or from before `before`.' },
    beforeArgOptions: { description: 'The cursor to stop before.' },
    nodesOnConnection: { description: 'The pools of `edges`, without their cursors.', complexity: objects(1) },
    nodeTypeOptions: { description: 'An object that can be read again by its id.' },
    edgesFieldOptions: { nullable: { list: false, items: false } },
    nodeFieldOptions: { nullable: false },
    cursorFieldOptions: { description: 'The place of this entry in its list, for `after` and `before`.' },
    pageInfoFieldOptions: { description: 'Where this page lies in the list.' },
    idFieldOptions: { description: NODE_ID },
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    pageInfoTypeOptions: { description: 'Where a page lies in its list.' },
    hasNextPageFieldOptions: { description: 'There are entries behind this page.' },
    hasPreviousPageFieldOptions: { description: 'There are entries before this page.' },
    startCursorFieldOptions: { description: 'Of the first entry, for `before`. Null for an empty page.' },
    endCursorFieldOptions: { description: 'Of the last entry, for `after`. Null for an empty page.' },
  },
  // Fields declare what they count as, and cost.ts adds it up: the plugin need not look once more in each root field.
  complexity: { fieldComplexity: estimateField, disabled: true },
});

builder.queryType({ description: 'Everything that can be asked once. One answer describes one beacon height.' });
builder.subscriptionType({ description: 'Everything that can be followed: what is true now, and then each change.' });

/**
 * The interface of objects with an id. Types give the id themselves: the plugin's own field for it is a promise for each
 * object, which takes most of the time and memory of a long list.
 */
export const NodeRef = builder.nodeInterfaceRef();
