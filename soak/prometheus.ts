/** The samples of one reading of metrics. */
export type MetricsReading = {
  /** The sum of all samples of that name that carry these labels; 0 where there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
  /** All samples of that name, each with its labels. */
  all(name: string): readonly Sample[];
};

type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** Parses the text that a Prometheus reads. */
export function parseMetrics(text: string): MetricsReading {
  const samples = text.split('\n').flatMap((line) => {
    const [, name = '', labels = '', value = ''] = /^([a-z_]\w*)(?:\{(.*)\})? (\S+)/i.exec(line) ?? [];
    return name === '' ? [] : [{ name, labels: parseLabels(labels), value: Number(value) }];
  });
  const all = (name: string) => samples.filter((sample) => sample.name === name);

  return {
    all,
    sum: (name, wanted = {}) =>
      all(name)
        .filter(({ labels }) => Object.entries(wanted).every(([label, value]) => labels[label] === value))
        .reduce((sum, { value }) => sum + value, 0),
  };
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]));
}
