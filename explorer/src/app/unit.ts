import { createStoredChoice, useStoredChoice } from './stored-choice.ts';

/** What prices and amounts of money count: the tokens of each market and PRV, or US dollars. */
export type Unit = 'PRV' | 'USD';

const unit = createStoredChoice<Unit>('pdex-unit', ['PRV', 'USD']);

/** Chooses the unit of all pages, also for later visits. */
export const chooseUnit = unit.set;

/** The unit that the reader has chosen. */
export function useUnit(): Unit {
  return useStoredChoice(unit);
}

/** Why a token has no price in US dollars. */
export const NO_USD_PRICE = 'No price in US dollars: no pools lead from this token to a stable coin';

/** Why a pool has no liquidity in US dollars. */
export const NO_USD_LIQUIDITY =
  'Not known in US dollars: no pools lead from its tokens to a stable coin, or too little is in these pools';

/** What a dash in a list means, where amounts are in US dollars. */
export const DASH_IN_USD = 'A dash: no pools lead to a stable coin, or too little is in them';
