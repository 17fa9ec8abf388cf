import { TIMEOUT } from './failure.ts';
import { describeFailure } from './scenario.ts';

describeFailure('never responds', { fault: { kind: 'hang' }, ...TIMEOUT, when: 'later' });
