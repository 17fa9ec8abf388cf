import { useSyncExternalStore } from 'react';
import { createStoredChoice, useStoredChoice } from './stored-choice.ts';

/** What the reader has chosen; `system` follows the setting of the operating system. */
type ThemeChoice = 'light' | 'dark' | 'system';

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const choice = createStoredChoice<ThemeChoice>('pdex-theme', ['system', 'light', 'dark']);

/** Applies the choice of the last visit, and each later one. Called once, before anything is drawn. */
export function startTheme(): void {
  apply();
  choice.subscribe(apply);
}

/** Chooses a theme, also for later visits. */
export const chooseTheme = choice.set;

/** The choice of the reader. */
export function useThemeChoice(): ThemeChoice {
  return useStoredChoice(choice);
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

function apply(): void {
  const chosen = choice.get();
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')) {
    const { scheme } = meta.dataset;
    meta.media = chosen === 'system' ? `(prefers-color-scheme: ${scheme})` : scheme === chosen ? 'all' : 'not all';
  }
}

function subscribeToSystem(listener: () => void): () => void {
  systemIsDark.addEventListener('change', listener);
  return () => systemIsDark.removeEventListener('change', listener);
}
