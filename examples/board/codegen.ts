import type { CodegenConfig } from '@graphql-codegen/cli';

/** Generates the types of the documents in board.ts. */
const config = {
  schema: 'http://127.0.0.1:4000/schema.graphql',
  documents: 'board.ts',
  generates: {
    'gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
        enumType: 'string-literal',
        importExtension: '.ts',
        useTypeImports: true,
        strictScalars: true,
        scalars: {
          ID: 'string',
          BigInt: 'string',
          Decimal: 'string',
          DateTime: 'string',
          TokenId: 'string',
          BeaconHeight: 'number',
        },
      },
    },
  },
} satisfies CodegenConfig;

export default config;
