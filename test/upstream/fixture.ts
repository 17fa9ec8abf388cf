import { readFileSync } from 'node:fs';

/** The text of a recorded answer, shortened by hand. */
export function readFixture(name: string): string {
  return readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url), 'utf8');
}
