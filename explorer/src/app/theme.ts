import { useSyncExternalStore } from 'react';
import { createStore } from '../client/store.ts';

/** What the reader has chosen; `system` follows the setting of the operating system. */
export type ThemeChoice = 'light' | 'dark' | 'system';

const KEY = 'pdex-theme';

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const choice = createStore<ThemeChoice>(readChoice());

/** Applies the choice of the last visit. Called once, before anything is drawn. */
export function startTheme(): void {
  apply(choice.get());
  window.addEventListener('storage', ({ key }) => {
    // Another tab has chosen.
    if (key === KEY) apply(readChoice());
  });
}

/** Chooses a theme, also for later visits. */
export function chooseTheme(next: ThemeChoice): void {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A browser that stores nothing keeps the choice until the page is closed.
  }
  apply(next);
}

/** The choice of the reader. */
export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(choice.subscribe, choice.get);
}

/** The colour scheme that is shown, for charts, which are not drawn by CSS. */
export function useColourScheme(): 'light' | 'dark' {
  const chosen = useThemeChoice();
  const system = useSyncExternalStore(subscribeToSystem, () => systemIsDark.matches);
  return chosen === 'system' ? (system ? 'dark' : 'light') : chosen;
}

/** A colour of the theme as `rgb(…)`, for charts: `themeColour('--accent')`. Read it again when the scheme changes. */
export function themeColour(name: `--${string}`): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function apply(next: ThemeChoice): void {
  if (next === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = next;
  choice.set(next);
}

function readChoice(): ThemeChoice {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
}

function subscribeToSystem(listener: () => void): () => void {
  systemIsDark.addEventListener('change', listener);
  return () => systemIsDark.removeEventListener('change', listener);
}
