import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
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
function openShared() {
  const started: { readonly end: (name: string) => Promise<void>; version: number; fail(): void }[] = [];
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
      fail: () => reject(new Error('cannot be read')),
    });
    return { dependencies, written: promise };
  }

  const read = cacheDocuments<void>(start, () => 0);
  return { read, started, change: () => ++version };
}

test('clients at the same time wait for one document, and later ones get it at once', async () => {
  const { read, started } = openShared();
  const both = [read(), read()];
  await started[0]?.end('first');
  expect((await Promise.all(both)).map(({ etag }) => etag)).toEqual(['first', 'first']);
  expect(read()).toMatchObject({ etag: 'first' });
  expect(started).toHaveLength(1);
});

test('a document that depends on something that has changed is neither waited for nor sent again', async () => {
  const { read, started, change } = openShared();
  const old = read();
  change();
  const fresh = read();
  await started[1]?.end('second');
  await started[0]?.end('first');
  expect([(await old).etag, (await fresh).etag]).toEqual(['first', 'second']);
  expect(read()).toMatchObject({ etag: 'second' });

  change();
  const third = read();
  await started[2]?.end('third');
  expect((await third).etag).toBe('third');
});

test('an error is not kept', async () => {
  const { read, started } = openShared();
  const failing = Promise.resolve(read());
  started[0]?.fail();
  await expect(failing).rejects.toThrow('cannot be read');
  const next = read();
  await started[1]?.end('next');
  expect((await next).etag).toBe('next');
});
