import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * For a control that can go away by its own click: if it has the focus then, the heading of its panel gets it. Otherwise, a reader
 * with a keyboard would begin again at the top of the page.
 */
export function useFocusHandover<Control extends HTMLElement>(): RefObject<Control | null> {
  const element = useRef<Control>(null);
  useLayoutEffect(() => {
    const control = element.current;
    return () => {
      if (control === null || control !== document.activeElement) return;
      const heading = control.closest('section[aria-labelledby]')?.querySelector('h2');
      (heading ?? document.querySelector('main'))?.focus({ preventScroll: true });
    };
  }, []);
  return element;
}
