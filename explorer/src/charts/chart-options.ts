import { ColorType, CrosshairMode, LineStyle } from 'lightweight-charts';
import { themeColour } from '../app/theme.ts';

/** The colours of a chart in the scheme that is shown. */
export type ChartColours = Readonly<
  Record<'up' | 'down' | 'accent' | 'text' | 'border' | 'strong' | 'surface', string>
>;

/** Reads the colours of the theme. Called again when the scheme changes. */
export function readChartColours(): ChartColours {
  return {
    up: themeColour('--up'),
    down: themeColour('--down'),
    accent: themeColour('--accent'),
    text: themeColour('--text-muted'),
    border: themeColour('--border'),
    strong: themeColour('--border-strong'),
    surface: themeColour('--surface'),
  };
}

/** A colour of the theme, `rgb(r, g, b)`, with an opacity. */
export function withOpacity(colour: string, opacity: number): string {
  return colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}

/** The size of the letters of a chart, in CSS pixels. */
export function chartFontSize(): number {
  return Math.round(0.6875 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
}

/** The options that all charts of the explorer share. */
export function chartOptions(colours: ChartColours) {
  const line = { color: colours.strong, labelBackgroundColor: colours.text, style: LineStyle.Dashed } as const;
  return {
    layout: {
      background: { type: ColorType.Solid, color: colours.surface },
      textColor: colours.text,
      fontFamily: getComputedStyle(document.body).fontFamily,
      // As all sizes of the page, it grows on a very large screen.
      fontSize: chartFontSize(),
      // It would add a style element, which the Content-Security-Policy forbids. `Attribution` names the library instead.
      attributionLogo: false,
    },
    grid: {
      vertLines: { color: withOpacity(colours.border, 0.5) },
      horzLines: { color: withOpacity(colours.border, 0.5) },
    },
    crosshair: { mode: CrosshairMode.Normal, vertLine: line, horzLine: line },
    rightPriceScale: { borderColor: colours.border, entireTextOnly: true },
    timeScale: { borderColor: colours.border },
    // A finger that moves up or down scrolls the page.
    handleScroll: { vertTouchDrag: false },
    autoSize: true,
  } as const;
}
