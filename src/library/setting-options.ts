import type { SETTINGS } from '../settings/settings.ts';

type Settings = typeof SETTINGS;

/** The type of an option, by the kind of its setting. */
type OptionType<Kind> = Kind extends readonly (infer Word)[] ? Word : Kind extends keyof Types ? Types[Kind] : string;

type Types = {
  readonly texts: string | readonly string[];
  readonly list: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly number: number;
  readonly boolean: boolean;
};

/**
 * The settings as options. Each is checked as on the command line. An option that is `undefined` is not set. In the package,
 * this type is written out, and each option has its description (`build.ts`).
 */
export type SettingOptions = {
  readonly [Key in keyof Settings]?:
    | OptionType<Settings[Key] extends { readonly kind: infer Kind } ? Kind : 'text'>
    | undefined;
};
