import type { Page } from 'playwright-core';

/**
 * A script of a page: records how much of the document moves without a reader's doing. Each request is sent when the page has been
 * drawn: as over a network, where everything comes later than the first frame.
 */
export function recordShifts(): void {
  const { fetch } = globalThis;
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  Object.assign(globalThis, {
    async fetch(...request: Parameters<typeof fetch>) {
      await drawn();
      return fetch(...request);
    },
  });
  const shifts: Shift[] = [];
  const add = (entries: PerformanceEntryList) => {
    for (const entry of entries as unknown as readonly LayoutShift[]) {
      const { value, startTime, sources, hadRecentInput } = entry;
      const moved = sources.map(({ node }) => String(node?.textContent).slice(0, 40));
      if (!hadRecentInput) shifts.push({ value, at: startTime, moved });
    }
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  Object.assign(globalThis, {
    readShifts() {
      add(observer.takeRecords());
      return shifts;
    },
  });
}

type LayoutShift = PerformanceEntry & {
  readonly value: number;
  readonly hadRecentInput: boolean;
  readonly sources: readonly { readonly node: Node | null }[];
};

type Shift = { readonly value: number; readonly at: number; readonly moved: readonly string[] };

/** The cumulative layout shift of the open document, and what moved: the largest sum of a session window (https://web.dev/cls). */
export async function readLayoutShift(
  page: Page,
): Promise<{ readonly cls: number; readonly shifts: readonly Shift[] }> {
  const shifts = await page.evaluate(async () => {
    // What was drawn last is measured when the next frame begins.
    for (let frame = 0; frame < 3; frame += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    return (globalThis as unknown as { readShifts(): readonly Shift[] }).readShifts();
  });
  let cls = 0;
  let window = { sum: 0, from: Number.NEGATIVE_INFINITY, to: Number.NEGATIVE_INFINITY };
  for (const { value, at } of shifts) {
    const isNext = at - window.to > 1_000 || at - window.from > 5_000;
    window = isNext ? { sum: value, from: at, to: at } : { ...window, sum: window.sum + value, to: at };
    cls = Math.max(cls, window.sum);
  }
  return { cls, shifts };
}
