import { median, samplesOf, toCount } from '../figures.ts';
import type { Result } from '../result.ts';
import { GATEWAY, GRAPHQL_SERVERS } from '../targets.ts';

// Sizes in pixels.
const COLUMNS = 2;
const PANEL_WIDTH = 420;
const BAR_HEIGHT = 18;
const LINE_HEIGHT = 24;
const TITLE_HEIGHT = 34;
const LABEL_WIDTH = 150;
const BARS_WIDTH = 190;
const MARGIN = 16;

/** Both schemes have a background of their own, so that the chart can be read on any page. */
const STYLE = `
  svg { font: 13px system-ui, sans-serif; --back: #fff; --text: #1f2328; --quiet: #59636e; --bar: #c4cad1; --ours: #0969da }
  @media (prefers-color-scheme: dark) {
    svg { --back: #0d1117; --text: #f0f6fc; --quiet: #9198a1; --bar: #4b535d; --ours: #58a6ff }
  }
  .back { fill: var(--back) } text { fill: var(--text) } .quiet { fill: var(--quiet) }
  .title { font-weight: 600 } .bar { fill: var(--bar) } .ours { fill: var(--ours) }`;

/**
 * Draws the throughput beside other GraphQL servers as an SVG: one panel for each benchmark with such servers, at its largest size.
 *
 * @returns `undefined` if no benchmark has any
 */
export function toChart(results: readonly Result[]): string | undefined {
  const panels = results.map(barsOf).filter(({ bars }) => bars.length > 1);
  if (panels.length === 0) return undefined;

  const lines = Math.max(...panels.map(({ bars }) => bars.length));
  const panelHeight = TITLE_HEIGHT + lines * LINE_HEIGHT + MARGIN;
  const width = COLUMNS * PANEL_WIDTH + MARGIN;
  const height = Math.ceil(panels.length / COLUMNS) * panelHeight + MARGIN;
  const drawn = panels.map(({ title, bars }, index) => {
    const x = MARGIN + (index % COLUMNS) * PANEL_WIDTH;
    const y = MARGIN + Math.floor(index / COLUMNS) * panelHeight;
    return `<g transform="translate(${x} ${y})">\n<text class="title" y="14">${escapeXml(title)}</text>\n${draw(bars)}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>Responses per second of the gateway and of other GraphQL servers</title>
<style>${STYLE}
</style>
<rect class="back" width="${width}" height="${height}" rx="8"/>
${drawn.join('\n')}
</svg>
`;
}

type Bar = { readonly name: string; readonly perSecond: number };

/** The gateway and the GraphQL servers, the fastest first. */
function barsOf(result: Result): { readonly title: string; readonly bars: readonly Bar[] } {
  const size = Math.max(...result.sizes);
  const isThroughput = result.better === 'more';
  const bars = [GATEWAY, ...GRAPHQL_SERVERS]
    .map((name) => ({ name, perSecond: median(samplesOf(result, name, size)) }))
    .filter(({ perSecond }) => isThroughput && !Number.isNaN(perSecond))
    .toSorted((one, other) => other.perSecond - one.perSecond);
  return { title: result.title, bars };
}

function draw(bars: readonly Bar[]): string {
  const most = bars[0]?.perSecond ?? 1;
  return bars
    .map(({ name, perSecond }, line) => {
      const y = TITLE_HEIGHT - 6 + line * LINE_HEIGHT;
      const length = Math.max(2, Math.round((BARS_WIDTH * perSecond) / most));
      const isOurs = name === GATEWAY;
      return [
        `<text class="${isOurs ? 'title' : 'quiet'}" x="${LABEL_WIDTH - 8}" y="${y + 13}" text-anchor="end">${escapeXml(name)}</text>`,
        `<rect class="${isOurs ? 'ours' : 'bar'}" x="${LABEL_WIDTH}" y="${y}" width="${length}" height="${BAR_HEIGHT}" rx="2"/>`,
        `<text x="${LABEL_WIDTH + length + 6}" y="${y + 13}">${toCount(Math.round(perSecond))}</text>`,
      ].join('\n');
    })
    .join('\n');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
