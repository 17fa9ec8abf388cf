import { expect, test } from 'vitest';
import { resumingPayload } from '../../src/client/resuming.ts';

const sent = ({ payload }: ReturnType<typeof resumingPayload>) => JSON.parse(JSON.stringify(payload)).variables;

test('a subscription with $afterHeight resumes after the last height that it received', () => {
  const query = 'subscription ($afterHeight: BeaconHeight) { prices(afterHeight: $afterHeight) { beaconHeight } }';
  const payload = resumingPayload(query, { tokenIds: ['a'] });
  expect(sent(payload)).toEqual({ tokenIds: ['a'] });
  payload.observe(null);
  payload.observe({ prices: { beaconHeight: 100 } });
  payload.observe({ prices: { beaconHeight: 101 } });
  expect(sent(payload)).toEqual({ tokenIds: ['a'], afterHeight: 101 });
});

test('any other subscription begins with the current value', () => {
  const payload = resumingPayload('subscription { head { beaconHeight } }', {});
  payload.observe({ head: { beaconHeight: 100 } });
  expect(sent(payload)).toEqual({});
});
