import { type Misbehaviour, openReaders, type ReadingDoor } from './readers.ts';

/** What the process can be told: how its readers cease to be good ones, or what to look up. */
export type Word = Misbehaviour | 'heights' | 'metrics';

const [url = '', door, count, query = ''] = process.argv.slice(2);
const readers = await openReaders(url, door as ReadingDoor, Number(count), query);

process.on('message', async (word: Word) => {
  if (word === 'heights') process.send?.(readers.map(({ heights }) => heights));
  else if (word === 'metrics') process.send?.(await (await fetch(new URL('/metrics', url))).text());
  else for (const reader of readers) reader.cease(word);
});
process.send?.('open');
