// Node loads its own undici when one of its classes is first used, and sets its dispatcher then, unless there is one already.
Reflect.get(globalThis, 'Headers');

/** Where all copies of undici in a process keep the dispatcher of `fetch`. That of Node 24 has version 1. */
const SYMBOLS = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));

/** What they were before undici was imported. */
const before = SYMBOLS.map((symbol) => [symbol, Reflect.get(globalThis, symbol)] as const);

/** Undoes what the import of undici has changed, so that the `fetch` of a program that uses the library stays Node's own. */
export function restoreGlobalDispatchers(): void {
  for (const [symbol, dispatcher] of before) {
    if (Reflect.get(globalThis, symbol) !== dispatcher) Reflect.set(globalThis, symbol, dispatcher);
  }
}
