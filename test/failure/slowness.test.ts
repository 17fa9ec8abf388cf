import { SHORT_TIMEOUT_MS } from './failure.ts';
import { describeFailure } from './scenario.ts';

const TOO_LATE = {
  code: 'UPSTREAM_TIMEOUT',
  message: `did not respond within ${SHORT_TIMEOUT_MS} ms`,
  opensCircuit: true,
  config: { upstreamTimeoutMs: SHORT_TIMEOUT_MS },
} as const;

describeFailure('never answers', { fault: { kind: 'hang' }, ...TOO_LATE });

describeFailure('answers a byte at a time', { fault: { kind: 'drip' }, ...TOO_LATE });
