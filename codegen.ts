import type { CodegenConfig } from '@graphql-codegen/cli';
import board from './examples/board/codegen.ts';

/** Prints the schema that clients are promised, and types for the documents that the tests and the example use. */
const config: CodegenConfig = {
  schema: 'src/graphql/schema.ts',
  generates: {
    'schema.graphql': {
      plugins: ['schema-ast'],
      config: { sort: false },
    },
    'test/support/generated/documents.ts': {
      documents: 'test/documents/*.graphql',
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        useTypeImports: true,
        enumType: 'string-literal',
        immutableTypes: true,
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
    'examples/board/gql/': { ...board.generates['gql/'], documents: 'examples/board/board.ts' },
  },
};

export default config;
