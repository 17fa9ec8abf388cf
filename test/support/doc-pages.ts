import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The address of a gateway on all pages. */
const ADDRESS = '127.0.0.1:4000';

/** A block of code on a page. */
export type Sample = {
  readonly page: string;
  readonly language: string;
  readonly text: string;
  /** The block right behind it, with nothing but blank lines between them. */
  readonly next: Pick<Sample, 'language' | 'text'> | undefined;
};

/** A page of the documents, by its path from the root of the repository. */
export type Page = { readonly path: string; readonly text: string; readonly samples: readonly Sample[] };

/** All pages of the documents. */
export const PAGES: readonly Page[] = globSync('{*.md,docs/**/*.md,{bench,soak}/*.md,examples/*/*.md}', { cwd: ROOT })
  .sort()
  .map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return { path, text, samples: samplesOf(path, text) };
  });

/** All blocks of code of some languages. */
export function samplesIn(...languages: readonly string[]): readonly Sample[] {
  return PAGES.flatMap(({ samples }) => samples.filter(({ language }) => languages.includes(language)));
}

function samplesOf(page: string, text: string): readonly Sample[] {
  const found = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  return found.map((match, index) => {
    const [whole, language = '', code = ''] = match;
    const following = found[index + 1];
    const between = following && text.slice(match.index + whole.length, following.index);
    const next = between?.trim() === '' ? { language: following?.[1] ?? '', text: following?.[2] ?? '' } : undefined;
    return { page, language, text: code, next };
  });
}

/** The first block of code of a language under a heading of a page. Throws if there is none. */
export function sampleUnder(path: string, heading: string, ...languages: readonly string[]): string {
  const text = PAGES.find((page) => page.path === path)
    ?.text.split(`\n## ${heading}\n`)[1]
    ?.split(/^## /m)[0];
  const sample = samplesOf(path, text ?? '').find(({ language }) => languages.includes(language));
  if (sample === undefined) throw new Error(`${path} has no ${languages.join(' or ')} under "${heading}"`);
  return sample.text;
}

/** The value of a variable of a program on a page, which runs with these imports and with that gateway. */
export function evaluateSample<T>(
  path: string,
  heading: string,
  variable: string,
  imports: Readonly<Record<string, unknown>>,
  host = ADDRESS,
): T {
  const text = sampleUnder(path, heading, 'js', 'ts')
    .replace(/^import .*$/gm, '')
    .replaceAll(ADDRESS, host);
  return new Function(...Object.keys(imports), `${text}\nreturn ${variable};`)(...Object.values(imports));
}

/** The text of a page without its blocks of code. */
export function proseOf({ text }: Page): string {
  return text.replace(/^```.*?^```$/gms, '');
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: Page): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of proseOf(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}
