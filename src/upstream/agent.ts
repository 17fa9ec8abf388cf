import type { Agent, Dispatcher } from 'undici';
// @ts-expect-error
import request from 'undici/lib/api/api-request.js';
// The entry of undici would replace the dispatcher of `fetch` in the whole process, and load four times as many files. It alone
// has types.
// @ts-expect-error
import UndiciAgent from 'undici/lib/dispatcher/agent.js';

/** The connections to the hosts of one upstream. */
type ConnectionAgent = Pick<Dispatcher, 'request' | 'destroy'>;

/** Creates the connections of an HTTP client; none is open yet. */
export function createAgent(options: Agent.Options): ConnectionAgent {
  const agent: Agent = new UndiciAgent(options);
  return { request: request.bind(agent), destroy: agent.destroy.bind(agent) };
}
