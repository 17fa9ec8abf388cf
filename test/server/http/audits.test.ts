import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { startGatewayForTests } from '../../support/gateway.ts';

const gateway = startGatewayForTests();

const audits = serverAudits({ url: () => gateway.url });

describe('GraphQL over HTTP, as the audits of graphql-http have it', () => {
  test('has 61 audits', () => expect(audits).toHaveLength(61));

  test.each(audits.map(({ id, name, fn }) => [`${id}: ${name}`, fn]))('%s', async (_name, audit) => {
    expect(await audit()).toMatchObject({ status: 'ok' });
  });
});
