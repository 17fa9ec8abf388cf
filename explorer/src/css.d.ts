import 'react';

declare module 'react' {
  // Custom properties that components set.
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be merged with React's
  interface CSSProperties {
    [name: `--${string}`]: string | number | undefined;
  }
}
