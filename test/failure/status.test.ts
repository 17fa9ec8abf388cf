import { showFailure } from './scenario.ts';

/** A text that no client may see. */
const body = 'upstream 10.0.0.1:9334 said so';

for (const status of [401, 403, 429, 500, 503]) {
  showFailure(`answers with status ${status} and a text`, {
    fault: { kind: 'status', status, body },
    code: 'UPSTREAM_BAD_STATUS',
    says: `answered with HTTP status ${status}`,
    isLeftAlone: true,
  });
}

for (const status of [200, 403]) {
  showFailure(`is behind a filter that answers with a page and status ${status}`, {
    fault: { kind: 'html', status },
    code: 'UPSTREAM_FILTERED',
    says: `is behind a traffic filter that answered in its place, with HTTP status ${status}`,
    isLeftAlone: true,
  });
}
