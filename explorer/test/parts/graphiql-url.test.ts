import { expect, test } from 'vitest';
import { ServiceDocument } from '../../src/app/service.generated.ts';
import { HeadDocument } from '../../src/client/head.generated.ts';
import { graphiqlUrl } from '../../src/parts/graphiql-url.ts';

function read(url: string) {
  const { pathname, searchParams } = new URL(url, 'http://gateway.example');
  return { pathname, ...Object.fromEntries(searchParams) };
}

test('the address has the document as a person would write it, with the fragments that it uses', () => {
  expect(read(graphiqlUrl(HeadDocument, {}))).toEqual({
    pathname: '/graphql',
    query: `subscription Head {
  head {
    ...HeadFields
  }
}

fragment HeadFields on Head {
  id
  beaconHeight
  previousHeight
  hash
  time
  observedAt
  stale
}
`,
  });
});

test('the address has the variables', () => {
  const { variables = '' } = read(graphiqlUrl(ServiceDocument, { first: 5, filter: { tokenId: null } })) as {
    variables?: string;
  };
  expect(variables).toBe('{\n  "first": 5,\n  "filter": {\n    "tokenId": null\n  }\n}');
});
