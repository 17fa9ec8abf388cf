import { registerHooks } from 'node:module';

// Loaded with `--import` before a sample of the documents: there `pdex-gateway` is the source, so that no build is needed.
const SOURCE = new URL('../../src/index.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'pdex-gateway' ? { url: SOURCE, shortCircuit: true } : next(specifier, context),
});
