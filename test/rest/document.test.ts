import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { HistoryUnavailableError, UpstreamBusyError } from '../../src/errors.ts';
import { Dependencies } from '../../src/loaders/dependencies.ts';
import { cacheDocuments, type RestDocument, type StartedDocument, writeBody } from '../../src/rest/document.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a long body is written in several turns, and its tag is that of its bytes', async () => {
  let turns = 0;
  const texts = Array.from({ length: 3_000 }, (_, n) => `${n} ${'ü'.repeat(100)}\n`).toSpliced(
    2,
    0,
    'ä'.repeat(200_000),
  );
  const { body, etag } = await writeBody(texts, async () => void turns++);
  expect(body.toString()).toBe(texts.join(''));
  expect(turns).toBeGreaterThan(4);
  expect(turns).toBeLessThan(20);
  expect(etag).toBe(`"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`);

  expect(await writeBody(['a', 'b'], nextTurn)).toEqual(await writeBody(['ab'], nextTurn));
});

/** Documents whose validity and end the test decides. */
function openShared<Parameters = void>() {
  const started: { readonly end: (name: string) => Promise<void>; version: number; fail(error?: Error): void }[] = [];
  let version = 0;

  function start(): StartedDocument {
    const dependencies = new Dependencies();
    dependencies.dependOn(() => version, version);
    const { promise, resolve, reject } = Promise.withResolvers<RestDocument>();
    started.push({
      version,
      async end(name) {
        const body = Buffer.from(name);
        resolve({ body, etag: name, rows: 0, dependencies, height: undefined, staleSince: () => undefined });
        await promise;
      },
      fail: (error = new Error('cannot be read')) => reject(error),
    });
    return { dependencies, written: promise };
  }

  const read = cacheDocuments<Parameters>(start, () => 0);
  return { read, started, change: () => ++version };
}

test('clients at the same time wait for one document, and later ones get it at once', async () => {
  const { read, started } = openShared();
  const both = [read(), read()];
  await started[0]?.end('first');
  const served = (await Promise.all(both)).map(({ document, from }) => [document.etag, from]);
  expect(served).toEqual([
    ['first', 'executed'],
    ['first', 'coalesced'],
  ]);
  expect(read()).toMatchObject({ document: { etag: 'first' }, from: 'cached' });
  expect(started).toHaveLength(1);
});

test('a document that depends on something that has changed is neither waited for nor sent again', async () => {
  const { read, started, change } = openShared();
  const old = read();
  change();
  const fresh = read();
  await started[1]?.end('second');
  await started[0]?.end('first');
  expect([(await old).document.etag, (await fresh).document.etag]).toEqual(['first', 'second']);
  expect(read()).toMatchObject({ document: { etag: 'second' } });

  change();
  const third = read();
  await started[2]?.end('third');
  expect((await third).document.etag).toBe('third');
});

test('the documents of some parameters are cached, and not those of all that clients send', async () => {
  const { read, started } = openShared<number>();
  for (let n = 0; n < 100; n++) {
    const document = read(n);
    await started[n]?.end(`${n}`);
    await document;
  }
  expect(read(99)).toMatchObject({ document: { etag: '99' } });
  expect(started).toHaveLength(100);
  read(0);
  expect(started).toHaveLength(101);
});

test('an error is not kept', async () => {
  const { read, started } = openShared();
  const failing = Promise.resolve(read());
  started[0]?.fail();
  await expect(failing).rejects.toThrow('cannot be read');
  const next = read();
  await started[1]?.end('next');
  expect((await next).document.etag).toBe('next');
});

test.each([new UpstreamBusyError('NODE'), new HistoryUnavailableError({ isBusy: true })])(
  'the error for the share of one client is given to that client alone: $message',
  async (busy) => {
    const { read, started } = openShared();
    const [a, b] = [{ client: 'a' }, { client: 'b' }];
    const ofA = Promise.allSettled([read(undefined, a), read(undefined, { client: 'a' })]);
    const ofB = read(undefined, b);
    expect(started).toHaveLength(1);
    started[0]?.fail(busy);
    const failed = { status: 'rejected', reason: busy };
    expect(await ofA).toEqual([failed, failed]);
    await nextTurn();
    expect(started).toHaveLength(2);
    await started[1]?.end('of b');
    expect(await ofB).toMatchObject({ document: { etag: 'of b' }, from: 'executed' });
    expect(read(undefined, a)).toMatchObject({ document: { etag: 'of b' } });
  },
);

test('another error is given to all clients that wait', async () => {
  const { read, started } = openShared();
  const all = Promise.allSettled(['a', 'b'].map((client) => read(undefined, { client })));
  const error = new HistoryUnavailableError();
  started[0]?.fail(error);
  const failed = { status: 'rejected', reason: error };
  expect(await all).toEqual([failed, failed]);
  expect(started).toHaveLength(1);
});
