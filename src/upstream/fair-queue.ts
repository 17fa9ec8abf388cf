/** Who waits: one operation, which this object stands for, of one client, as far as it is known whose it is. */
export type Requester = { readonly client: string | symbol };

/**
 * Things that wait, each in the lane of one requester or in the lanes of several. Clients come round in a circle, so do the
 * requesters of each client, and what one requester waits for comes in the order in which it was asked for.
 *
 * Two circles, because either alone can be used up by one: a client that sends many operations would have as many places
 * among operations, and behind a proxy that is not known as one everybody is the same client.
 */
export type FairQueue<T> = {
  /** How many things wait, each counted once. */
  size(): number;
  has(thing: T): boolean;
  /** Puts a thing at the end of an requester's lane, unless it stands in it already. */
  add(thing: T, requester: Requester): void;
  /** Takes the thing whose turn it is out of every lane; `undefined` where none waits. */
  next(): T | undefined;
  /** Takes a thing out of one lane. */
  leave(thing: T, requester: Requester): void;
  /** Takes a thing out of every lane. */
  remove(thing: T): void;
  /**
   * What should go where there is no room: of the client that has brought the most things, and of its requesters the one that
   * has, the newest thing; one that other clients wait for too only where there is no other.
   */
  mostDispensable(): T | undefined;
};

/** Makes an empty queue. It knows an requester only while something waits in its lane. */
export function createFairQueue<T>(): FairQueue<T> {
  /** Whose turn comes next stands first, in both circles. */
  const clients: Circle<Circle<Lane<T>>> = new Map();
  /** What waits, from the oldest on, and in whose lanes: first in the lane of who brought it. */
  const askersOf = new Map<T, Set<Requester>>();

  function remove(thing: T): void {
    for (const requester of askersOf.get(thing) ?? []) leave(thing, requester);
  }

  function leave(thing: T, requester: Requester): void {
    const lanes = clients.get(requester.client);
    lanes?.get(requester)?.delete(thing);
    if (lanes?.get(requester)?.size === 0) lanes.delete(requester);
    if (lanes?.size === 0) clients.delete(requester.client);

    const requesters = askersOf.get(thing);
    requesters?.delete(requester);
    if (requesters?.size === 0) askersOf.delete(thing);
  }

  return {
    size: () => askersOf.size,
    has: (thing) => askersOf.has(thing),
    add(thing, requester) {
      const lanes: Circle<Lane<T>> = clients.get(requester.client) ?? new Map();
      const lane: Lane<T> = lanes.get(requester) ?? new Set();
      const requesters = askersOf.get(thing) ?? new Set();
      clients.set(requester.client, lanes.set(requester, lane.add(thing)));
      askersOf.set(thing, requesters.add(requester));
    },
    next() {
      const lanes = nextOf(clients);
      const lane = lanes && nextOf(lanes);
      const [thing] = lane ?? [];
      if (thing !== undefined) remove(thing);
      return thing;
    },
    leave,
    remove,
    mostDispensable() {
      const newestFirst = [...askersOf]
        .reverse()
        .map(([thing, requesters]) => ({ thing, requesters, owner: firstOf(requesters) }));
      const client = mostFrequent(newestFirst.map(({ owner }) => owner.client));
      const ofClient = newestFirst.filter(({ owner }) => owner.client === client);
      const owner = mostFrequent(ofClient.map((each) => each.owner));
      const ofOwner = ofClient.filter((each) => each.owner === owner);
      const isAlone = ({ requesters }: (typeof ofOwner)[number]) =>
        requesters.values().every((each) => each.client === client);
      return (ofOwner.find(isAlone) ?? ofOwner[0])?.thing;
    },
  };
}

/** In the order of their turns; whoever had one goes to the end. */
type Circle<Value> = Map<unknown, Value>;

/** From the oldest on. */
type Lane<T> = Set<T>;

/** What stands first in a circle, and now last. */
function nextOf<Value>(circle: Circle<Value>): Value | undefined {
  const [first] = circle;
  if (first === undefined) return undefined;
  const [key, value] = first;
  circle.delete(key);
  circle.set(key, value);
  return value;
}

function firstOf(requesters: ReadonlySet<Requester>): Requester {
  const [first] = requesters;
  if (first === undefined) throw new Error('something waits for nobody');
  return first;
}

/** The value that is there most often, and of equals the one that comes first. */
function mostFrequent<Value>(values: readonly Value[]): Value | undefined {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return counts.keys().find((value) => counts.get(value) === most);
}
