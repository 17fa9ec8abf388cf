import { useCallback, useSyncExternalStore } from 'react';
import { useGateway } from './gateway.tsx';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls a listener each second. All listeners share one timer, which only runs while there are any. */
function subscribeToSeconds(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (!document.hidden) for (const each of [...listeners]) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Something that depends on the time, by the clock of the gateway: the component is rendered again when it is another. */
export function useAtEachSecond<Value extends string | number | boolean>(at: (now: number) => Value): Value {
  const { clock } = useGateway();
  return useSyncExternalStore(
    subscribeToSeconds,
    useCallback(() => at(clock.now()), [at, clock]),
  );
}
