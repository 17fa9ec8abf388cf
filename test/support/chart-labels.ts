import type { Page } from 'playwright-core';

/** A script of a page: records the texts that each canvas shows. */
export function recordChartLabels(): void {
  const drawn = new Map<HTMLCanvasElement, Label[]>();
  const { fillText, fillRect, clearRect } = CanvasRenderingContext2D.prototype;
  const forget = ({ canvas }: CanvasRenderingContext2D) => void drawn.set(canvas, []);
  Object.assign(CanvasRenderingContext2D.prototype, {
    clearRect(this: CanvasRenderingContext2D, ...box: Parameters<typeof clearRect>) {
      forget(this);
      clearRect.apply(this, box);
    },
    fillRect(this: CanvasRenderingContext2D, ...box: Parameters<typeof fillRect>) {
      // How the library clears a canvas with a colour.
      if (this.globalCompositeOperation === 'copy') forget(this);
      fillRect.apply(this, box);
    },
    fillText(this: CanvasRenderingContext2D, text: string, x: number, y: number) {
      const { a, d, e, f } = this.getTransform();
      const { actualBoundingBoxLeft, actualBoundingBoxRight, actualBoundingBoxAscent, actualBoundingBoxDescent } =
        this.measureText(text);
      const label = {
        text,
        left: (x - actualBoundingBoxLeft) * a + e,
        right: (x + actualBoundingBoxRight) * a + e,
        top: (y - actualBoundingBoxAscent) * d + f,
        bottom: (y + actualBoundingBoxDescent) * d + f,
      };
      if (text !== '') drawn.set(this.canvas, [...(drawn.get(this.canvas) ?? []), label]);
      fillText.call(this, text, x, y);
    },
  });
  Object.assign(globalThis, {
    readLabels: () =>
      [...drawn].flatMap(([{ isConnected, width, height }, labels]) =>
        isConnected && width > 0 ? [{ width, height, labels }] : [],
      ),
  });
}

type Label = {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
};

type Canvas = { readonly width: number; readonly height: number; readonly labels: readonly Label[] };

/** The texts in charts of the open document, and those of them that an edge cuts, or that cover another one. */
export async function readChartLabels(page: Page): Promise<{ readonly texts: string[]; readonly faults: string[] }> {
  const canvases = await page.evaluate(() =>
    (globalThis as unknown as { readLabels(): readonly Canvas[] }).readLabels(),
  );
  const faults = canvases.flatMap(({ width, height, labels }) =>
    labels.flatMap((label, index) => {
      const { text, left, right, top, bottom } = label;
      const isCut = left < -1 || top < -1 || right > width + 1 || bottom > height + 1;
      const covered = labels.slice(index + 1).filter((other) => isOver(label, other));
      return [...(isCut ? [`${text} is cut`] : []), ...covered.map((other) => `${text} is over ${other.text}`)];
    }),
  );
  return { texts: canvases.flatMap(({ labels }) => labels.map(({ text }) => text)), faults };
}

function isOver(one: Label, other: Label): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
