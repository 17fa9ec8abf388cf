import { showFailure } from './scenario.ts';

const UNREACHABLE = { code: 'UPSTREAM_UNREACHABLE', says: 'cannot be reached', isLeftAlone: true } as const;

showFailure('refuses connections', { fault: 'refused', ...UNREACHABLE });

showFailure('resets connections instead of answering', { fault: { kind: 'reset' }, ...UNREACHABLE });

// The body of a node's answer ends where its connection does, so what was cut off there is text that is no JSON.
const NOT_JSON = {
  code: 'UPSTREAM_BAD_SHAPE',
  says: 'gave an answer of the wrong shape: it is not JSON',
  isLeftAlone: false,
} as const;

for (const [what, kind] of [
  ['resets connections in the middle of its answers', 'reset-in-body'],
  ['ends connections in the middle of its answers', 'truncated'],
] as const) {
  showFailure(what, { only: 'NODE', fault: { kind }, ...NOT_JSON });
  showFailure(what, { only: 'MARKET_DATA', fault: { kind }, ...UNREACHABLE });
}
