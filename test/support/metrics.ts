/** The value of a sample in the text of the metrics, by its name with labels; `undefined` where it is not there. */
export function sample(text: string, name: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

/** The same of a gateway, at any of its URLs. */
export async function readSample(url: string | URL, name: string): Promise<number | undefined> {
  const response = await fetch(new URL('/metrics', url));
  return sample(await response.text(), name);
}

/** The sum of all samples of that name whose labels hold all of these. */
export function sumOf(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
