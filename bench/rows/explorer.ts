import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { startGateway, startSandbox } from '../gateway.ts';
import { request } from '../graphql-client.ts';
import type { BenchProcess } from '../processes.ts';
import { createResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';

const CHROMIUM = '/usr/bin/chromium';
const VIEWPORT = { width: 1440, height: 900 } as const;

const FIRST_LOAD = 'first load';
const SHOWN = 'shown';
const SCROLLING = 'scrolling';
const WITH_BLOCKS = 'scrolling, a block each second';

/** The time between two blocks. */
const BLOCK_MS = 1_370;
const FRAMES = 300;
const PIXELS_PER_FRAME = 150;

/** The page of the markets in Chromium: its first load, the time that an update takes to the screen, and scrolling. */
export const explorer: Row = { name: 'explorer', comparesCheckouts: false, run };

async function run({ quick, checkouts, log }: RowContext): Promise<readonly Result[]> {
  const [checkout] = checkouts;
  if (checkout === undefined) throw new Error('the gateway of this checkout takes no part');
  execFileSync('npm', ['run', '--silent', 'build', '--workspace', 'explorer'], { cwd: checkout.folder, stdio: 'pipe' });
  const sizes = quick ? [1_000] : [10_000];
  const [loads, blocks, scrolls] = quick ? [2, 3, 1] : [5, 10, 2];
  const head = { better: 'less', sizeUnit: 'pools', sizes } as const;
  const load = createResult({
    ...head,
    title: 'The explorer: the first load',
    about:
      'The page of the markets in a running Chromium without a window and without a GPU, each time with empty caches: from the start of the navigation to the first frame with rows. The browser is not pinned.',
    unit: 'ms',
    samplesPerStart: loads,
    goals: [{ target: FIRST_LOAD, bound: 'at most', value: 1_000 }],
  });
  const update = createResult({
    ...head,
    title: 'The explorer: an update on the screen',
    about:
      'From the moment at which the gateway has read a new block (`observedAt`) to the frame in which the same page has shown both its height and the prices at that height.',
    unit: 'ms',
    samplesPerStart: blocks,
    goals: [{ target: SHOWN, bound: 'at most', value: 100 }],
  });
  const scroll = createResult({
    ...head,
    title: 'The explorer: scrolling the list of all pools',
    about: `The CPU time of the main thread of the page for each frame, while the page scrolls by ${PIXELS_PER_FRAME} pixels a frame, over ${FRAMES} frames.`,
    unit: 'ms',
    samplesPerStart: scrolls,
    goals: [{ target: SCROLLING, bound: 'at most', value: 16 }],
  });

  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    for (const pools of sizes) {
      await using sandbox = await startSandbox({ pools });
      await using gateway = await startGateway(sandbox, { checkout });
      await request(gateway.url, { query: '{ poolPairs(first: 1) { nodes { id } } }' });
      // The first load is not measured: the gateway has compiled nothing, and the browser has read no font.
      for (let round = 0; round <= loads; round++) {
        const page = await openPage(browser, gateway, '/');
        const usableMs = await usableAfterMs(page);
        if (round > 0) load.add(FIRST_LOAD, pools, usableMs);
        await page.context().close();
      }

      const page = await openPage(browser, gateway, '/?list=pools');
      await usableAfterMs(page);
      // All pages of the list are there.
      await page.getByText(`${pools.toLocaleString('en-US')} pools`, { exact: true }).waitFor();
      for (let block = 0; block <= blocks; block++) {
        await sleep(BLOCK_MS);
        await sandbox.call('advance');
        const height = await sandbox.call<number>('tip height');
        const shownAt = await shownAtMs(page, height);
        const readAt = await readAtMs(gateway, height);
        if (block > 0) update.add(SHOWN, pools, shownAt - readAt);
      }
      for (let round = 0; round < scrolls; round++) {
        scroll.add(SCROLLING, pools, await cpuMsPerFrame(page));
        await sandbox.call('advance every', 1_000);
        scroll.add(WITH_BLOCKS, pools, await cpuMsPerFrame(page));
        await sandbox.call('advance every', 0);
      }
      await page.context().close();
      log(`${load.title} and the rest, ${pools} pools: done`);
    }
  } finally {
    await browser.close();
  }
  return [load, update, scroll];
}

/** What the page notes about itself, in milliseconds since 1970. */
type Noted = { usableAt?: number; readonly shownAt: Record<number, number> };

async function openPage(browser: Browser, { url }: BenchProcess, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.addInitScript(noteFrames);
  await page.goto(new URL(path, url).href);
  return page;
}

/** Runs in the page before its first script: notes when rows and heights are on the screen. */
function noteFrames(): void {
  const noted: Noted = { shownAt: {} };
  Object.assign(globalThis, { noted });
  const now = () => performance.timeOrigin + performance.now();
  /** Calls back after the frame that shows what the document is now. */
  const afterFrame = (callback: () => void) => requestAnimationFrame(() => setTimeout(callback));
  new MutationObserver(() => {
    const footer = document.querySelector<HTMLElement>('footer [data-height]');
    const panel = document.querySelector('main section > :first-child')?.textContent ?? '';
    const height = Number(footer?.dataset['height']);
    if (height > 0 && !(height in noted.shownAt) && panel.includes(`height ${height.toLocaleString('en-US')}`)) {
      noted.shownAt[height] = Number.NaN;
      afterFrame(() => {
        noted.shownAt[height] = now();
      });
    }
    if (noted.usableAt === undefined && document.querySelector('tbody th[scope=row]') !== null) {
      noted.usableAt = Number.NaN;
      afterFrame(() => {
        noted.usableAt = now();
      });
    }
  }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
}

async function usableAfterMs(page: Page): Promise<number> {
  const usableAt = await untilNumber(page, () => (globalThis as unknown as { noted: Noted }).noted.usableAt);
  return usableAt - (await page.evaluate(() => performance.timeOrigin));
}

function shownAtMs(page: Page, height: number): Promise<number> {
  return untilNumber(page, (wanted) => (globalThis as unknown as { noted: Noted }).noted.shownAt[wanted ?? 0], height);
}

/** Reads a value in the page until it is a number. The page's policy allows no text that is evaluated, so it is polled from here. */
async function untilNumber(
  page: Page,
  read: (argument?: number) => number | undefined,
  argument?: number,
): Promise<number> {
  for (let attempt = 0; attempt < 3_000; attempt++) {
    const value = await page.evaluate(read, argument);
    if (value !== undefined && !Number.isNaN(value)) return value;
    await sleep(20);
  }
  throw new Error('the page has not shown it within a minute');
}

type Status = { readonly service: { readonly head: { readonly beaconHeight: number; readonly observedAt: string } } };

/** When the gateway had read that height, in milliseconds since 1970. */
async function readAtMs({ url }: BenchProcess, height: number): Promise<number> {
  const query = '{ service { head { beaconHeight observedAt } } }';
  const { service } = await request<Status>(url, { query });
  const { head } = service;
  if (head.beaconHeight !== height) throw new Error(`the gateway is at ${head.beaconHeight}, not at ${height}`);
  return Date.parse(head.observedAt);
}

/** Measures the CPU time of the main thread of a page, from now on. */
async function measureCpu(page: Page): Promise<{ milliseconds(): Promise<number> }> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  return {
    async milliseconds() {
      const { metrics } = await devtools.send('Performance.getMetrics');
      const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
      return seconds * 1_000;
    },
  };
}

/** Scrolls from the top. */
async function cpuMsPerFrame(page: Page): Promise<number> {
  const cpu = await measureCpu(page);
  await page.evaluate(() => scrollTo(0, 0));
  const before = await cpu.milliseconds();
  await page.evaluate(
    async ([frames, pixels]) => {
      for (let frame = 0; frame < frames; frame++) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        scrollBy(0, pixels);
      }
    },
    [FRAMES, PIXELS_PER_FRAME] as const,
  );
  return ((await cpu.milliseconds()) - before) / FRAMES;
}
