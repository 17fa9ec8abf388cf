import { Toggle } from './toggle.tsx';
import { chooseUnit, useUnit } from './unit.ts';

const CHOICES = [
  { value: 'PRV', title: 'Prices in the tokens of each market, amounts in PRV', label: 'PRV' },
  { value: 'USD', title: 'Prices and amounts in US dollars', label: 'USD' },
] as const;

/** Chooses between PRV and US dollars. */
export function UnitToggle() {
  return <Toggle legend="Unit of prices and amounts" choices={CHOICES} value={useUnit()} onChoose={chooseUnit} />;
}
