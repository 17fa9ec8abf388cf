import { describeFailure } from './scenario.ts';

/** A text that no client may get. */
const body = 'upstream 10.0.0.1:9334 said so';

for (const [status, when] of [
  [429, 'later'],
  [503, 'from the start'],
] as const) {
  describeFailure(`answers with status ${status} and a text`, {
    fault: { kind: 'status', status, body },
    code: 'UPSTREAM_BAD_STATUS',
    message: `responded with HTTP status ${status}`,
    opensCircuit: true,
    when,
  });
}

for (const [status, when] of [
  [200, 'later'],
  [403, 'from the start'],
] as const) {
  describeFailure(`is behind a filter that answers with a page and status ${status}`, {
    fault: { kind: 'html', status },
    code: 'UPSTREAM_FILTERED',
    message: `is blocked by a traffic filter, which responded with HTTP status ${status}`,
    opensCircuit: true,
    when,
  });
}

describeFailure('redirects to another host', {
  only: 'NODE',
  fault: { kind: 'redirect', to: 'https://10.0.0.1/rpc?key=value' },
  code: 'UPSTREAM_BAD_STATUS',
  message: 'responded with HTTP status 301, a redirect, which the gateway does not follow',
  opensCircuit: true,
  when: 'from the start',
});

// With another text, status 400 can mean that there is no such order book.
describeFailure('expects HTTPS', {
  only: 'MARKET_DATA',
  fault: { kind: 'https-expected' },
  code: 'UPSTREAM_BAD_STATUS',
  message: 'responded with HTTP status 400 because it expects HTTPS',
  opensCircuit: true,
  when: 'from the start',
});
