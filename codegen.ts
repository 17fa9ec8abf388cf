import type { CodegenConfig } from '@graphql-codegen/cli';

/** Prints the schema that clients are promised, and types for the documents that the tests use. */
const config: CodegenConfig = {
  schema: 'src/graphql/schema.ts',
  documents: 'test/documents/*.graphql',
  generates: {
    'schema.graphql': {
      plugins: ['schema-ast'],
      config: { sort: false },
    },
    'test/support/generated/documents.ts': {
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
  },
};

export default config;
