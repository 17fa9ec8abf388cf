/** Decodes percent-encoding. A text with a `%` that does not begin an encoded character stays as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
