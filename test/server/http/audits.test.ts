import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../support/gateway.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
let url = '';
beforeAll(async () => {
  gateway = await startGateway();
  url = await gateway.app.listen(0, '127.0.0.1');
});
afterAll(() => gateway.close());

const audits = serverAudits({ url: () => url });

describe('GraphQL over HTTP, as the audits of graphql-http have it', () => {
  test('has 61 audits', () => expect(audits).toHaveLength(61));

  test.each(audits.map(({ id, name, fn }) => [`${id}: ${name}`, fn]))('%s', async (_name, audit) => {
    expect(await audit()).toMatchObject({ status: 'ok' });
  });
});
