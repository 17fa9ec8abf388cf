import { type RefObject, useLayoutEffect } from 'react';

/** Keeps the height of an element in a custom property of the page, for what sticks to the window below it. */
export function useHeightProperty(element: RefObject<HTMLElement | null>, property: `--${string}`): void {
  useLayoutEffect(() => {
    const observed = element.current;
    if (observed === null) return;
    const write = () => document.documentElement.style.setProperty(property, `${observed.offsetHeight}px`);
    write();
    const observer = new ResizeObserver(write);
    observer.observe(observed);
    return () => observer.disconnect();
  }, [element, property]);
}
