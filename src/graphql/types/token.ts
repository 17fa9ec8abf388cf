import type { Token } from '../../domain/token.ts';
import { builder, NODE_ID, NodeRef } from '../builder.ts';
import { objectsOf } from '../complexity.ts';

/** How many tokens all of them count as: about one for each pool. */
const ASSUMED_TOKENS = 1_000;

export const TokenRef = builder.objectRef<Token>('Token');

TokenRef.implement({
  interfaces: [NodeRef],
  description:
    'A token, with what is known of it: by the token list of this gateway, or by what the market-data host calls it. Nothing is guessed.',
  fields: (t) => ({
    id: t.id({ description: NODE_ID, resolve: (token) => `Token:${token.tokenId}` }),
    tokenId: t.expose('tokenId', { type: 'TokenId', description: 'Its id on the chain.' }),
    symbol: t.exposeString('symbol', {
      nullable: true,
      description:
        'Its short name, not unique: from the token list, else as the market-data host writes it. Null when no source names it.',
    }),
    decimals: t.exposeInt('decimals', {
      nullable: true,
      description:
        'One whole token is 10^decimals of its smallest units. Null when no source says: nothing is guessed.',
    }),
  }),
});

builder.queryFields((t) => ({
  token: t.field({
    type: TokenRef,
    nullable: true,
    description:
      'A token by its id. Null when neither the token list nor any pool or pair holds it, or with an error where an upstream that could know it cannot be read.',
    args: { id: t.arg({ type: 'TokenId', required: true, description: 'The id of the token on the chain.' }) },
    resolve: (_root, { id }, { loaders }) => loaders.tokens.find(id),
  }),
  tokens: t.field({
    type: [TokenRef],
    complexity: (_args, { service: { sources } }) =>
      objectsOf(ASSUMED_TOKENS, sources.tokens.size + (sources.head.current()?.exchange.directory.ids.length ?? 0)),
    description:
      'Every token that is known now, by id: those of the token list, and those of every pool and pair that have been read.',
    resolve: (_root, _args, { loaders }) => loaders.tokens.all(),
  }),
}));
