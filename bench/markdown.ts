/** Writes a table; the first line is its head. */
export function toTable([head = [], ...lines]: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

/** Writes a number with three significant digits. */
export function toFigure(value: number): string {
  if (Math.abs(value) >= 100) return toCount(Math.round(value));
  return value.toPrecision(Math.abs(value) < 0.1 ? 2 : 3).replace(/\.0+$/, '');
}

/** Writes a number with separators of thousands. */
export function toCount(value: number): string {
  return value.toLocaleString('en-US');
}
