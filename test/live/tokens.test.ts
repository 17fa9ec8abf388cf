import { expect, onTestFinished, test } from 'vitest';
import { fixedTokens, followTokens } from '../../src/live/tokens.ts';
import type { ServiceToken, TokenService } from '../../src/upstream/token-service.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const C = 'c'.repeat(64);

/** Follows a service whose responses are these; after that it does not respond. */
function follow(...responses: (readonly ServiceToken[] | Error)[]) {
  const skipped: number[] = [];
  const host: TokenService = {
    async list() {
      const response = responses.shift();
      if (response === undefined) return new Promise(() => {});
      if (response instanceof Error) throw response;
      return { rows: response, dropped: response.length };
    },
  };
  const tokens = followTokens({
    host,
    known: [token(A, 'known'), token(B, 'known')],
    configured: [token(A, 'configured')],
    pollMs: 3_600_000,
    timeoutMs: 1_000,
    now: () => 1_000,
    watcher: { failed() {}, recovered() {}, skipped: (entries) => skipped.push(entries) },
  });
  onTestFinished(tokens.stop);
  return { tokens, skipped };
}

function token(tokenId: string, symbol: string, isVerified = false): ServiceToken {
  return { tokenId, symbol, decimals: 9, isVerified };
}

test('the configured tokens override those of the service, and these the known ones', async () => {
  const { tokens, skipped } = follow([A, B, C].map((id) => token(id, 'service')));
  const first = tokens.current();
  expect([first.get(A)?.symbol, first.get(B)?.symbol, first.has(C)]).toEqual(['configured', 'known', false]);
  await expect.poll(() => tokens.status?.changedAt()).toBe(1_000);
  const list = tokens.current();
  expect([A, B, C].map((id) => list.get(id)?.symbol)).toEqual(['configured', 'service', 'service']);
  expect(list.get(B)).toEqual({ tokenId: B, symbol: 'service', decimals: 9 });
  expect([tokens.status?.nextAt(), skipped]).toEqual([3_601_000, [3]]);
});

test('a service that fails is read again after a minute', async () => {
  const { tokens } = follow(new Error('down'));
  expect(tokens.status?.nextAt()).toBeUndefined();
  await expect.poll(() => tokens.status?.isFailing()).toBe(true);
  await expect.poll(() => tokens.status?.nextAt()).toBe(61_000);
  expect(tokens.current().get(B)?.symbol).toBe('known');
});

test('without a service, the list never changes', () => {
  const tokens = fixedTokens([token(A, 'known')]);
  expect(tokens.current()).toBe(tokens.current());
  expect(tokens.status).toBeUndefined();
});
