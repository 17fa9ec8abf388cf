/** The two symbols of a ticker id, base first, without the `p` that the market-data host writes before bridged tokens. */
export function symbolsOfTicker(tickerId: string): readonly [string, string] | undefined {
  const [base, target, ...rest] = tickerId.split('_');
  if (!base || !target || rest.length > 0) return undefined;
  return [withoutPrefix(base), withoutPrefix(target)];
}

function withoutPrefix(symbol: string): string {
  return symbol.replace(/^p(?=[A-Za-z])/, '');
}
