/** A value of `Content-Encoding`. */
export type Encoding = 'gzip' | 'deflate' | 'br';

/** Faults of any host. Kinds that replace the response do so regardless of the request. */
export type HttpFault =
  /** Delays the response. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Never responds, and keeps the connection open. */
  | { readonly kind: 'hang' }
  /** Sends the body one byte at a time, every 5 ms by default. */
  | { readonly kind: 'drip'; readonly everyMs?: number }
  /** Responds with a status and a text, as a proxy does. */
  | { readonly kind: 'status'; readonly status: number; readonly body?: string; readonly retryAfter?: string | number }
  /**
   * Responds with status 429 above a rate, as a proxy with a token bucket does: `burst` requests at once, 1 by default, and
   * `perSecond` on average. With `retryAfter`, the response has that header, in whole seconds.
   */
  | { readonly kind: 'rate-limit'; readonly perSecond: number; readonly burst?: number; readonly retryAfter?: boolean }
  /** Responds with a page for people, as a traffic filter does; by default with status 200. */
  | { readonly kind: 'html'; readonly status?: number }
  /** Sends half of the body, then closes the connection gracefully. */
  | { readonly kind: 'truncated' }
  /** Responds with status 200 and a body that is not JSON. */
  | { readonly kind: 'garbage' }
  /** Responds with status 200 and an empty body. */
  | { readonly kind: 'empty' }
  /** Replaces the value at `path` in the response; `'*'` matches every key or element. The value `undefined` removes the key. */
  | { readonly kind: 'shape'; readonly path: readonly (string | number)[]; readonly value: unknown }
  /** Sends a body that never ends. */
  | { readonly kind: 'endless' }
  /** Responds with a redirect and a page, as nginx does; by default with status 301. */
  | { readonly kind: 'redirect'; readonly to: string; readonly status?: number }
  /** Responds with nginx's page for a plain HTTP request to an HTTPS port. */
  | { readonly kind: 'https-expected' }
  /** Responds with the URL and the headers of the request, encoded and decoded: by default with status 404, as JSON. */
  | { readonly kind: 'echo'; readonly status?: number; readonly as?: 'json' | 'text' }
  /** Compresses the body with `gzip`, by default, `deflate` or `br`; with `ifAsked`, only if the client accepts that encoding. */
  | { readonly kind: 'compressed'; readonly encoding?: Encoding; readonly ifAsked?: boolean }
  /** Resets the connection instead of responding. */
  | { readonly kind: 'reset' }
  /** Resets the connection in the middle of the body. */
  | { readonly kind: 'reset-in-body' };

/** Faults of a node. */
export type NodeFault =
  | HttpFault
  /** Reports a tip that is `blocks` lower, in all calls, and knows no block above it. */
  | { readonly kind: 'lag'; readonly blocks: number }
  /** Reports other blocks from the height `from` on, in all calls: its own branch of the chain. */
  | { readonly kind: 'fork'; readonly from: number }
  /**
   * Is still syncing: its tip is `blocks` lower at the first call, and moves one block every `everyMs`, 20 by default, until it
   * has reached that of the chain.
   */
  | { readonly kind: 'syncing'; readonly blocks: number; readonly everyMs?: number }
  /** Responds to requests for the exchange state of the tip as if the block did not exist yet. */
  | { readonly kind: 'state-missing' }
  /** Has pruned every exchange state that is more than `blocks` below its tip. */
  | { readonly kind: 'pruned'; readonly blocks: number }
  /** Is older than September 2022: it does not know verbosity 4 of `pdexv3_getState`. */
  | { readonly kind: 'old-node' }
  /** Has a damaged database: it leaves out this number of pools of V3, and reports no error. */
  | { readonly kind: 'missing-pools'; readonly pools: number }
  /** Responds to every request for an exchange state with an error and this cause: -8000, or -14001 for V3. */
  | { readonly kind: 'state-error'; readonly because: string }
  /**
   * Allows each client address a number of JSON errors per method within a window, an hour by default. After that, it closes
   * the connection of every call of the method without a byte, until a window has passed since the last counted error.
   */
  | { readonly kind: 'error-limit'; readonly errors: number; readonly windowMs?: number }
  /** Has pruned every block, but no exchange state, that is `blocks` or more below its tip: all with 0. */
  | { readonly kind: 'pruned-blocks'; readonly blocks: number }
  /** Sends each block with an accepted trade that is cut in half. */
  | { readonly kind: 'damaged-trade' }
  /** Responds with another id than that of the request. */
  | { readonly kind: 'wrong-id' };

/** Faults of a market-data host. */
export type MarketDataFault =
  | HttpFault
  /** Responds with status 200, the message "no data", and null instead of lists. */
  | { readonly kind: 'no-data' }
  /**
   * Writes the same content in the form of another host: `decimals: 'strings'`, `entries: 'longer'` or `'objects'`,
   * `timestamp: { unit: 'nanoseconds' }`, or `without: ['message']`.
   */
  | ({ readonly kind: 'form' } & MarketDataForm);

/** The format of another host for the same data. A part without a member here keeps the format of the sandbox. */
export type MarketDataForm = {
  /** Writes prices, quantities and volumes as decimal strings: 5 as `"5.00000000"`. */
  readonly decimals?: 'strings';
  /** Writes entries of order books as `[price, quantity, count, state]`, or as `{price, quantity}`. */
  readonly entries?: 'longer' | 'objects';
  /** Writes the timestamp of order books in this unit, as a number or with `asText` as a string; `date-time` is RFC 3339. */
  readonly timestamp?: {
    readonly unit: 'seconds' | 'milliseconds' | 'microseconds' | 'nanoseconds' | 'date-time';
    readonly asText?: boolean;
  };
  /** Leaves out these members of the response. */
  readonly without?: readonly ('message' | 'ticker_id')[];
};

/** Faults of a token service. */
export type TokenServiceFault =
  | HttpFault
  /** Responds with `{"Result": null, "Error": text}`, by default with status 200. */
  | { readonly kind: 'service-error'; readonly error: string; readonly status?: number };

/** Faults of the websocket on which a node pushes new blocks. */
export type PushFault =
  /** Refuses the upgrade with a status and a text. */
  | { readonly kind: 'refused'; readonly status: number; readonly body?: string }
  /** Responds to `subscribe` with an error, as an older node does: -1002 unknown method, -1003 wrong parameters. */
  | { readonly kind: 'rpc-error'; readonly code: '-1002' | '-1003' | '-5001' }
  /** Does nothing: with `on: 'unsubscribe'` the last frame never comes, with `on: 'ping'` the peer seems dead. */
  | { readonly kind: 'ignored' }
  /** Resets the connection. */
  | { readonly kind: 'dropped' }
  /** Sends each frame twice. */
  | { readonly kind: 'duplicates' }
  /** Sends the second of five blocks last: 11, 13, 14, 15, 12. */
  | { readonly kind: 'out-of-order' }
  /** Sends another block of the same height before each block: it was inserted too, and is not the tip. */
  | { readonly kind: 'side-branches' }
  /** Sends the frames of this number of earlier heights before each block, at once, as a node that is syncing does. */
  | { readonly kind: 'burst'; readonly blocks: number }
  /** Sends no frame. */
  | { readonly kind: 'lost' }
  /** Sends the first half of the frame. */
  | { readonly kind: 'garbage-frame' }
  /** Sends the block without its instructions, as many nodes do. */
  | { readonly kind: 'without-instructions' }
  /** Sends the block with an accepted trade that is cut in half. */
  | { readonly kind: 'damaged-trade' }
  /** Sends this number of bytes more. */
  | { readonly kind: 'large-frame'; readonly bytes: number };

/** A method of a node. */
export type NodeCall =
  | 'getblockchaininfo'
  | 'getbeaconbeststatedetail'
  | 'getpdestate'
  // Only with V3 of the exchange:
  | 'pdexv3_getState'
  | 'retrievebeaconblockbyheight';

/** An endpoint of a market-data host. */
export type MarketDataCall = 'pairs' | 'tickers' | 'orderbook';

/** The endpoint of a token service. */
export type TokenCall = 'tokenlist';

/** What happens on the websocket of a node. Each fault applies to one of these. */
export type PushCall = 'upgrade' | 'subscribe' | 'unsubscribe' | 'block' | 'ping';

/** A fault of any host. */
export type AnyFault = NodeFault | MarketDataFault | TokenServiceFault | PushFault;

/** The calls that a fault applies to: by default all, until it is cleared. */
export type FaultTarget<Name extends string> = {
  /** Only calls of this name. */
  readonly on?: Name;
  /** Only this number of calls, then the fault clears itself. */
  readonly times?: number;
};

/**
 * The active faults. If several match a call, the oldest applies and the others wait for the next call, so that faults with
 * `times` follow each other. The kinds of {@link isCombined} also apply together with others.
 */
export type Faults<Fault, Name extends string> = {
  /** Activates a fault. @returns a function that deactivates it */
  set(fault: Fault & FaultTarget<Name>): () => void;
  /** Deactivates all faults. */
  clear(): void;
};

/** The faults of a host, as the host sees them. */
type FaultsOfHost<Fault, Name extends string> = Faults<Fault, Name> & {
  /** The faults that apply to a call, each of which is used once by this. A fault applies only if `matches` returns true. */
  take(name: Name | undefined, matches: (fault: Fault) => boolean): readonly Fault[];
};

const COMBINED: ReadonlySet<AnyFault['kind']> = new Set([
  'delay',
  'rate-limit',
  'form',
  'lag',
  'compressed',
  'fork',
  'syncing',
  'pruned',
  'old-node',
  'missing-pools',
  'error-limit',
  'duplicates',
  'out-of-order',
  'side-branches',
  'pruned-blocks',
  'damaged-trade',
  'without-instructions',
]);

/** Whether a fault applies together with others to the same call. */
export function isCombined(fault: AnyFault): boolean {
  return COMBINED.has(fault.kind);
}

/** Creates the faults of a host. None is active at first. */
export function createFaults<Fault extends AnyFault, Name extends string>(): FaultsOfHost<Fault, Name> {
  const active: { readonly fault: Fault & FaultTarget<Name>; left: number }[] = [];
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
    take(name, matches) {
      const matching = active.filter(({ fault }) => (fault.on === undefined || fault.on === name) && matches(fault));
      const main = matching.find(({ fault }) => !isCombined(fault));
      const taken = matching.filter((entry) => entry === main || isCombined(entry.fault));

      for (const entry of taken) {
        entry.left -= 1;
        if (entry.left <= 0) drop(entry);
      }
      return taken.map(({ fault }) => fault);
    },
  };
}
