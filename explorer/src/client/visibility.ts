import { type RefObject, useEffect, useState, useSyncExternalStore } from 'react';

function subscribeToVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}

/** Whether somebody can see the page: it is not in a tab in the background. */
export function useIsVisible(): boolean {
  return useSyncExternalStore(subscribeToVisibility, () => !document.hidden);
}

/** Whether an element is on the screen, or nearly. */
function useIsOnScreen(element: RefObject<Element | null>): boolean {
  const [isOnScreen, setIsOnScreen] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver(
      (entries) => setIsOnScreen(entries.some(({ isIntersecting }) => isIntersecting)),
      { rootMargin: '200px' },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isOnScreen;
}

/** Whether somebody can see an element now. What nobody sees needs no subscription. */
export function useIsWatched(element: RefObject<Element | null>): boolean {
  const isVisible = useIsVisible();
  return useIsOnScreen(element) && isVisible;
}
