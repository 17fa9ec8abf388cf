import { describeFailure } from './scenario.ts';

const NOT_JSON = {
  code: 'UPSTREAM_BAD_SHAPE',
  message: 'sent an invalid response: it is not JSON',
  opensCircuit: false,
} as const;

describeFailure('answers with nothing', { fault: { kind: 'empty' }, ...NOT_JSON });

describeFailure('answers with what is no JSON', { fault: { kind: 'garbage' }, ...NOT_JSON });
