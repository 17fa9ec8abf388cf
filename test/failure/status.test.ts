import { describeFailure } from './scenario.ts';

/** A text that no client may get. */
const body = 'upstream 10.0.0.1:9334 said so';

for (const status of [429, 503]) {
  describeFailure(`answers with status ${status} and a text`, {
    fault: { kind: 'status', status, body },
    code: 'UPSTREAM_BAD_STATUS',
    message: `responded with HTTP status ${status}`,
    opensCircuit: true,
  });
}

for (const status of [200, 403]) {
  describeFailure(`is behind a filter that answers with a page and status ${status}`, {
    fault: { kind: 'html', status },
    code: 'UPSTREAM_FILTERED',
    message: `is blocked by a traffic filter, which responded with HTTP status ${status}`,
    opensCircuit: true,
  });
}

describeFailure('redirects to another host', {
  fault: { kind: 'redirect', to: 'https://10.0.0.1/rpc?key=value' },
  code: 'UPSTREAM_BAD_STATUS',
  message: 'responded with HTTP status 301, a redirect, which the gateway does not follow',
  opensCircuit: true,
});

describeFailure('expects HTTPS', {
  fault: { kind: 'https-expected' },
  code: 'UPSTREAM_BAD_STATUS',
  message: 'responded with HTTP status 400 because it expects HTTPS',
  opensCircuit: true,
});
