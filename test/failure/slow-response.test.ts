import { TIMEOUT } from './failure.ts';
import { describeFailure } from './scenario.ts';

describeFailure('responds byte by byte', { fault: { kind: 'drip' }, ...TIMEOUT, when: 'from the start' });
