import type { CodegenConfig } from '@graphql-codegen/cli';
import board from './examples/board/codegen.ts';

/** Types of the results of documents, and the documents themselves as syntax trees. */
const TYPED_DOCUMENTS = {
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
} as const;

/** Prints the schema that clients are promised, and types for the documents of the tests, the example and the explorer. */
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
      config: TYPED_DOCUMENTS,
    },
    // One file next to each document, so that a page of the explorer loads only its own.
    'explorer/src/': {
      documents: 'explorer/src/**/*.graphql',
      preset: 'near-operation-file',
      presetConfig: { extension: '.generated.ts' },
      plugins: ['typescript-operations', 'typed-document-node'],
      config: { ...TYPED_DOCUMENTS, dedupeFragments: true },
    },
    'examples/board/gql/': { ...board.generates['gql/'], documents: 'examples/board/board.ts' },
  },
};

export default config;
