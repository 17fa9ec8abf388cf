import type { BeaconHeight } from '../domain/beacon-height.ts';
import { GatewayError, type UpstreamError } from '../errors.ts';
import type { Subscribe } from '../live/broadcast/broadcast.ts';
import type { Head } from '../live/chain/head.ts';

/**
 * Several values for each head, or none. They are sent one for each request. A subscriber that is slow skips heads, and
 * `toValues` is called with the newest one next.
 *
 * @param start creates the function of one subscriber, which can remember what it was called with
 */
export function toSeveral<V>(
  subscribe: Subscribe<Head | UpstreamError>,
  start: () => (head: Head) => readonly V[],
): Subscribe<V | UpstreamError> {
  return (subscriber) => {
    const toValues = start();
    let waiting: V[] = [];
    const heads = subscribe({
      onNext(head) {
        if (head instanceof GatewayError) return subscriber.onNext(head);
        waiting = [...toValues(head)];
        request();
      },
      onError: (reason) => subscriber.onError(reason),
    });
    function request(): void {
      const value = waiting.shift();
      if (value === undefined) heads.request();
      else subscriber.onNext(value);
    }
    return { request, cancel: () => heads.cancel() };
  };
}

/** The heads, each after its `filledIn`. A subscriber that has received a higher one gets none of these. */
export function withFilledIn(
  heads: Subscribe<Head | UpstreamError>,
  after: BeaconHeight | undefined,
): Subscribe<Head | UpstreamError> {
  return toSeveral(heads, () => {
    let received = after;
    return (head) => {
      const before = received ?? head.beaconHeight;
      received = head.beaconHeight;
      return [...(head.filledIn ?? []).filter(({ beaconHeight }) => beaconHeight > before), head];
    };
  });
}
