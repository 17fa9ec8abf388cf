import { SHORT_TIMEOUT_MS } from './failure.ts';
import { describeFailure } from './scenario.ts';

const TOO_LATE = {
  code: 'UPSTREAM_TIMEOUT',
  message: `did not respond within ${SHORT_TIMEOUT_MS} ms`,
  opensCircuit: true,
  config: { upstreamTimeoutMs: SHORT_TIMEOUT_MS },
} as const;

describeFailure('never responds', { fault: { kind: 'hang' }, ...TOO_LATE });

describeFailure('responds byte by byte', { fault: { kind: 'drip' }, ...TOO_LATE });
