import { BadUserInputError } from '../errors.ts';

/** @throws BadUserInputError for a number below the minimum */
export function requireAtLeast(min: number, name: string, value: number | null | undefined): void {
  if (value == null || value >= min) return;
  throw new BadUserInputError(`${name} is ${value}. It must be ${min} or greater.`);
}

/** @throws BadUserInputError for a number above a limit of this gateway */
export function requireWithin(max: number, name: string, value: number): void {
  if (value <= max) return;
  throw new BadUserInputError(`${name} is ${value}. The maximum is ${max}.`);
}

/** @throws BadUserInputError for a number below the minimum or above the maximum */
export function requireBetween(min: number, max: number, name: string, value: number | null | undefined): void {
  if (value == null || (value >= min && value <= max)) return;
  throw new BadUserInputError(`${name} is ${value}. It must be from ${min} to ${max}.`);
}
