import type { MarketDataForm } from '../faults.ts';
import { printExactly } from '../http/exact-json.ts';

/** The text of a response in the form of another host, with the same content. */
export function writeInForm(response: object, form: MarketDataForm): string {
  const { decimals, entries, timestamp, without = [] } = form;
  const left = Object.entries(response).filter(([name]) => !without.some((each) => each === name));

  function figure(value: unknown): unknown {
    if (decimals !== 'strings' || typeof value !== 'number') return value;
    return Number.isInteger(value) ? value.toFixed(8) : String(value);
  }

  function entry([price, quantity, ...more]: readonly unknown[]): unknown {
    const [first, second] = [figure(price), figure(quantity)];
    if (entries === 'objects') return { price: first, quantity: second };
    return entries === 'longer' ? [first, second, 1, 'open'] : [first, second, ...more];
  }

  const written = left.map(([name, value]) => {
    if (name === 'timestamp' && timestamp) return [name, timestampIn(timestamp, Number(value))];
    if (!Array.isArray(value)) return [name, value];
    return [name, value.map((item) => (Array.isArray(item) ? entry(item) : mapValues(item, figure)))];
  });
  return printExactly(Object.fromEntries(written));
}

function mapValues(row: object, map: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, map(value)]));
}

const PER_SECOND = { seconds: 1n, milliseconds: 1_000n, microseconds: 1_000_000n, nanoseconds: 1_000_000_000n };

/** @param seconds whole seconds */
function timestampIn({ unit, asText }: NonNullable<MarketDataForm['timestamp']>, seconds: number): unknown {
  if (unit === 'date-time') return new Date(seconds * 1_000).toISOString();
  const written = BigInt(seconds) * PER_SECOND[unit];
  return asText ? String(written) : written;
}
