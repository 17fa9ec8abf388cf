import { expect, test } from 'vitest';
import { ServiceDocument } from '../../src/app/service.generated.ts';
import { HeadDocument } from '../../src/client/head.generated.ts';
import { readLink } from '../../src/graphiql/link.ts';
import { graphiqlUrl } from '../../src/parts/graphiql-url.ts';

function read(address: string) {
  const url = new URL(address, 'http://gateway.example');
  return { pathname: url.pathname, ...readLink(url) };
}

test('the address has the document as a person would write it, with the fragments that it uses, and runs it', () => {
  expect(read(graphiqlUrl(HeadDocument, {}))).toEqual({
    pathname: '/graphql',
    variables: null,
    run: true,
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
  const { variables } = read(graphiqlUrl(ServiceDocument, { first: 5, filter: { tokenId: null } }));
  expect(variables).toBe('{"first":5,"filter":{"tokenId":null}}');
});
