/** How a body is compressed, as `Content-Encoding` names it. */
export type Encoding = 'gzip' | 'deflate' | 'br';

/** What can go wrong between any host and its client. Kinds that replace the answer do so whatever it would have been. */
export type HttpFault =
  /** Answers later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Never answers, and keeps the connection open. */
  | { readonly kind: 'hang' }
  /** Sends the body a byte at a time, every 5 ms or so many. */
  | { readonly kind: 'drip'; readonly everyMs?: number }
  /** A status with a text, as a proxy sends it. */
  | { readonly kind: 'status'; readonly status: number; readonly body?: string; readonly retryAfter?: string | number }
  /**
   * Refuses what goes beyond a rate with status 429, as a proxy with a token bucket does: `burst` calls at once, 1 by
   * default, and `perSecond` on average. With `retryAfter` it says how many whole seconds to wait.
   */
  | { readonly kind: 'rate-limit'; readonly perSecond: number; readonly burst?: number; readonly retryAfter?: boolean }
  /** A page meant for a person, by default with status 200. */
  | { readonly kind: 'html'; readonly status?: number }
  /** Half of the body, then an orderly end. */
  | { readonly kind: 'truncated' }
  /** Status 200 and a body that is not JSON. */
  | { readonly kind: 'garbage' }
  /** Status 200 and no body. */
  | { readonly kind: 'empty' }
  /**
   * Puts `value` where `path` leads in the answer; `'*'` in a path leads to every key or element. The value `undefined`
   * removes the key.
   */
  | { readonly kind: 'shape'; readonly path: readonly (string | number)[]; readonly value: unknown }
  /** A body that goes on for as long as the client reads. */
  | { readonly kind: 'endless' }
  /** A redirect with a page, as nginx sends it: by default with status 301. */
  | { readonly kind: 'redirect'; readonly to: string; readonly status?: number }
  /** The page of nginx for a plain HTTP request to a port that expects HTTPS. */
  | { readonly kind: 'https-expected' }
  /** Repeats the URL and the headers of the request, encoded and decoded: by default with status 404, as JSON. */
  | { readonly kind: 'echo'; readonly status?: number; readonly as?: 'json' | 'text' }
  /** Compresses the body, by default with gzip; with `ifAsked` only where the client accepts that. */
  | { readonly kind: 'compressed'; readonly encoding?: Encoding; readonly ifAsked?: boolean }
  /** Resets the connection instead of answering. */
  | { readonly kind: 'reset' }
  /** Resets the connection in the middle of the body. */
  | { readonly kind: 'reset-in-body' };

/** What can go wrong with a node beside `HttpFault`. */
export type NodeFault =
  | HttpFault
  /** Shows a tip that lies `blocks` lower, in all calls, and knows nothing above it. */
  | { readonly kind: 'lag'; readonly blocks: number }
  /** Shows blocks of its own from the height `from` on, in all calls: its branch of the chain. */
  | { readonly kind: 'fork'; readonly from: number }
  /**
   * Is still syncing: shows a tip that lies `blocks` lower when it is first called, and one block more every `everyMs`, 20
   * by default, until it has reached the others.
   */
  | { readonly kind: 'syncing'; readonly blocks: number; readonly everyMs?: number }
  /** Answers the exchange state of the tip as if there were no such block yet. */
  | { readonly kind: 'state-missing' }
  /** Has pruned every exchange state more than so many blocks below its tip. */
  | { readonly kind: 'pruned'; readonly blocks: number }
  /** Answers every exchange state with error -8000 and this cause. */
  | { readonly kind: 'state-error'; readonly because: string }
  /**
   * Allows each client address so many JSON errors per method within a window, an hour by default. Beyond that, every call
   * of the method closes without a byte until a window has passed since the last error that counted.
   */
  | { readonly kind: 'error-limit'; readonly errors: number; readonly windowMs?: number }
  /** Echoes another id than it was sent. */
  | { readonly kind: 'wrong-id' };

/** What can go wrong with a market-data host beside `HttpFault`. */
export type MarketDataFault =
  | HttpFault
  /** Status 200, the message "no data", and null where there should be a list. */
  | { readonly kind: 'no-data' };

/** Any fault of any host. */
export type AnyFault = NodeFault | MarketDataFault;

/** Which calls a fault befalls: by default every one, until it is cleared. */
export type Aim<Name extends string> = {
  /** Only calls of this name. */
  readonly on?: Name;
  /** Only so many calls, then it clears itself. */
  readonly times?: number;
};

/**
 * The faults that are switched on. Of several that fit a call the oldest befalls it and the others wait for the next
 * one, so that faults with `times` follow each other; those that `joins` names join whatever else befalls the call.
 */
export type Faults<Fault, Name extends string> = {
  /** Switches a fault on and returns what switches it off. */
  set(fault: Fault & Aim<Name>): () => void;
  /** Switches all faults off. */
  clear(): void;
};

/** The faults of a host together with what only the host asks. */
type FaultsOfHost<Fault, Name extends string> = Faults<Fault, Name> & {
  /** The faults that befall a call of this name, each thereby used once. `fits` may spare the call. */
  take(name: Name | undefined, fits: (fault: Fault) => boolean): readonly Fault[];
};

const JOINING: ReadonlySet<AnyFault['kind']> = new Set([
  'delay',
  'rate-limit',
  'lag',
  'compressed',
  'fork',
  'syncing',
  'pruned',
  'error-limit',
]);

/** Whether a fault joins others that befall the same call. */
export function joins(fault: AnyFault): boolean {
  return JOINING.has(fault.kind);
}

/** Makes the faults of a host, all switched off. */
export function createFaults<Fault extends AnyFault, Name extends string>(): FaultsOfHost<Fault, Name> {
  const active: { readonly fault: Fault & Aim<Name>; left: number }[] = [];
  const drop = (entry: (typeof active)[number]) => {
    const place = active.indexOf(entry);
    if (place !== -1) active.splice(place, 1);
  };

  return {
    set(fault) {
      const entry = { fault, left: fault.times ?? Number.POSITIVE_INFINITY };
      active.push(entry);
      return () => drop(entry);
    },
    clear: () => void active.splice(0),
    take(name, fits) {
      const fitting = active.filter(({ fault }) => (fault.on === undefined || fault.on === name) && fits(fault));
      const main = fitting.find(({ fault }) => !joins(fault));
      const taken = fitting.filter((entry) => entry === main || joins(entry.fault));

      for (const entry of taken) {
        entry.left -= 1;
        if (entry.left <= 0) drop(entry);
      }
      return taken.map(({ fault }) => fault);
    },
  };
}
