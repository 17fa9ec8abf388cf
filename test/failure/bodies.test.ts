import { describeFailure } from './scenario.ts';

const NOT_JSON = {
  code: 'UPSTREAM_BAD_SHAPE',
  message: 'sent an invalid response: it is not JSON',
  opensCircuit: false,
} as const;

describeFailure('answers with an empty body', { fault: { kind: 'empty' }, ...NOT_JSON, when: 'from the start' });

describeFailure('answers with what is not JSON', { fault: { kind: 'garbage' }, ...NOT_JSON, when: 'later' });
