import { showFailure } from './scenario.ts';

const NOT_JSON = {
  code: 'UPSTREAM_BAD_SHAPE',
  says: 'sent an invalid response: it is not JSON',
  isLeftAlone: false,
} as const;

showFailure('answers with nothing', { fault: { kind: 'empty' }, ...NOT_JSON });

showFailure('answers with what is no JSON', { fault: { kind: 'garbage' }, ...NOT_JSON });
