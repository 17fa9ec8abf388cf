import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { advanceOnPage, describeInBrowser, holdAnswers } from '../support/explorer.ts';

/** Notes every animation and every transition that the page starts, from its first line on. */
function noteMotion(): void {
  const moved: string[] = [];
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...options) {
    moved.push('flash');
    return animate.apply(this, options);
  };
  addEventListener('animationstart', ({ animationName }) => moved.push(animationName), true);
  addEventListener('transitionrun', ({ propertyName }) => moved.push(propertyName), true);
  Object.assign(globalThis, { moved });
}

const motionOf = (page: Page) =>
  page.evaluate(() => [...new Set((globalThis as unknown as { moved: string[] }).moved)].toSorted());

describeInBrowser('the motion of the explorer', (browser) => {
  test.each([
    { reducedMotion: 'no-preference', motion: [expect.stringMatching(/pulse/), 'flash'] },
    { reducedMotion: 'reduce', motion: [] },
  ] as const)('is $motion.length kinds for a reader with $reducedMotion', async ({ reducedMotion, motion }) => {
    let release = () => {};
    const opened = await browser.open('/', {
      reducedMotion,
      initScript: noteMotion,
      before: async (loading) => {
        release = await holdAnswers(loading, 'Markets');
      },
    });
    const { page } = opened;
    await page.getByText('Loading…').first().waitFor({ state: 'attached' });
    await expect.poll(() => motionOf(page)).toEqual(motion.slice(0, 1));
    release();

    const prices = () => page.getByRole('row').getByRole('cell').allTextContents();
    await page.getByRole('rowheader').first().waitFor();
    const before = await prices();
    await advanceOnPage(opened, 20);
    await expect.poll(prices).not.toEqual(before);

    // Charts, tables and bars that grow.
    for (const name of ['Chain', 'Tokens', 'Status']) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await page.getByRole('region').first().waitFor();
      await advanceOnPage(opened);
    }
    expect(await motionOf(page)).toEqual(motion);
  });
});
