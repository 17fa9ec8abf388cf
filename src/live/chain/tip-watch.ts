import type { BeaconHeight } from '../../domain/beacon-height.ts';

/** Notices that the highest tip of all nodes lies far below the height that is served. */
export type TipWatch = {
  /** The highest tip that was shown at a look, and the height that is served. */
  note(tip: BeaconHeight, served: BeaconHeight): void;
  /** The tip as it was last noted; `undefined` where it is not far below. */
  farBehind(): BeaconHeight | undefined;
};

/** Who is notified, each time once: when the tip falls far below what is served, and when it is near again. */
export type TipWatcher = {
  fellFarBehind(tip: BeaconHeight, served: BeaconHeight): void;
  caughtUp(tip: BeaconHeight): void;
};

/** A node behind a load balancer lags by a few blocks. At this distance it has lost them. */
const FAR_BLOCKS = 100;

/** Creates the watch, with no tip noted yet. */
export function createTipWatch(watcher: TipWatcher): TipWatch {
  let farBehind: BeaconHeight | undefined;

  return {
    note(tip, served) {
      const wasFarBehind = farBehind !== undefined;
      farBehind = tip < served - FAR_BLOCKS ? tip : undefined;
      if (farBehind !== undefined && !wasFarBehind) watcher.fellFarBehind(tip, served);
      if (farBehind === undefined && wasFarBehind) watcher.caughtUp(tip);
    },
    farBehind: () => farBehind,
  };
}
