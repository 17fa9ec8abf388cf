import { SHORT_TIMEOUT_MS } from './failure.ts';
import { showFailure } from './scenario.ts';

const TOO_LATE = {
  code: 'UPSTREAM_TIMEOUT',
  says: `did not respond within ${SHORT_TIMEOUT_MS} ms`,
  isLeftAlone: true,
  config: { upstreamTimeoutMs: SHORT_TIMEOUT_MS },
} as const;

showFailure('never answers', { fault: { kind: 'hang' }, ...TOO_LATE });

showFailure('answers a byte at a time', { fault: { kind: 'drip' }, ...TOO_LATE });
