/** A flag with a value, such as `<port>`, as `parseArgs` and {@link usageOf} take it. */
export function flag(value: string, byDefault: string, about: string) {
  return { type: 'string', value, default: byDefault, about } as const;
}

/** A flag without a value. */
export function switchFlag(about: string) {
  return { type: 'boolean', default: false, about } as const;
}

/** The text of `--help`: each flag of an npm script, with its default. */
export function usageOf(
  script: string,
  flags: Readonly<Record<string, ReturnType<typeof flag> | ReturnType<typeof switchFlag>>>,
): string {
  const rows = Object.entries(flags).map(([name, each]): [string, string] => {
    if (each.type === 'boolean') return [`--${name}`, each.about];
    return [`--${name} ${each.value}`, each.default === '' ? each.about : `${each.about} (${each.default})`];
  });
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`);
  return `Usage: npm run ${script} -- [flags]\n\n${lines.join('')}`;
}

/** Reads the version of the exchange that trades. @throws Error that says what was expected */
export function exchangeOf(text: string): 'v1' | 'v3' {
  if (text === 'v1' || text === 'v3') return text;
  throw new Error(`--exchange must be v1 or v3: ${text}`);
}
