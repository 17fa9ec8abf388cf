import { showFailure } from './scenario.ts';

const NOT_JSON = {
  code: 'UPSTREAM_BAD_SHAPE',
  says: 'gave an answer of the wrong shape: it is not JSON',
  isLeftAlone: false,
} as const;

showFailure('answers with nothing', { fault: { kind: 'empty' }, ...NOT_JSON });

showFailure('answers with what is no JSON', { fault: { kind: 'garbage' }, ...NOT_JSON });
