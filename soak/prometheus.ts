/** The samples of a response of `/metrics`. */
export type MetricsReading = {
  /** The sum of all samples with this name and these labels; 0 if there is none. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
  /** All samples with this name. */
  all(name: string): readonly Sample[];
};

type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** Parses Prometheus' text format. */
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
