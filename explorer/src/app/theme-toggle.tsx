import { chooseTheme, useThemeChoice } from './theme.ts';
import { Toggle } from './toggle.tsx';

const CHOICES = [
  {
    value: 'light',
    title: 'Light',
    label: 'Light',
    icon: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.2v1.6m0 10.4v1.6M1.2 8h1.6m10.4 0h1.6M3.2 3.2l1.1 1.1m7.4 7.4 1.1 1.1m0-9.6-1.1 1.1m-7.4 7.4-1.1 1.1',
  },
  { value: 'system', title: 'System', label: 'System', icon: 'M2 3h12v8.2H2zM5.5 13.6h5' },
  { value: 'dark', title: 'Dark', label: 'Dark', icon: 'M13.4 9.6A5.8 5.8 0 0 1 6.4 2.6a5.8 5.8 0 1 0 7 7z' },
] as const;

/** Chooses between light, dark, and what the operating system says. */
export function ThemeToggle() {
  return <Toggle legend="Colour scheme" choices={CHOICES} value={useThemeChoice()} onChoose={chooseTheme} />;
}
