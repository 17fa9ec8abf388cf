/** One operation of one client, which waits in a queue. Operations are compared by this object. */
export type Requester = { readonly client: string | symbol };

/**
 * Creates an empty queue that is shared fairly (round robin). Clients take turns, and so do the operations of each client. The items of
 * one operation come in their order. Several operations can wait for one item: it comes when it is due for any of them. The queue refers
 * to an operation only while that waits.
 *
 * Both levels are needed. If only operations took turns, a client would get more turns with more operations. If only clients
 * did, all clients behind an unknown proxy would count as one, and one operation of theirs could delay all others.
 */
export function createFairQueue<T>() {
  const clients: Rotation<Rotation<Set<T>>> = new Map();
  /** The operations that wait for each item, from the oldest item on. The first one has added it. */
  const requestersOf = new Map<T, Set<Requester>>();

  /** Removes an item for all operations. */
  function remove(item: T): void {
    for (const requester of requestersOf.get(item) ?? []) leave(item, requester);
  }

  /** Removes an item for one operation. It stays for the others. */
  function leave(item: T, requester: Requester): void {
    const operations = clients.get(requester.client);
    operations?.get(requester)?.delete(item);
    if (operations?.get(requester)?.size === 0) operations.delete(requester);
    if (operations?.size === 0) clients.delete(requester.client);

    const requesters = requestersOf.get(item);
    requesters?.delete(requester);
    if (requesters?.size === 0) requestersOf.delete(item);
  }

  return {
    /** How many items wait, each counted once. */
    size: () => requestersOf.size,
    has: (item: T) => requestersOf.has(item),
    /** Adds an item for an operation, unless the operation waits for it already. */
    add(item: T, requester: Requester): void {
      const operations: Rotation<Set<T>> = clients.get(requester.client) ?? new Map();
      const items: Set<T> = operations.get(requester) ?? new Set();
      const requesters = requestersOf.get(item) ?? new Set();
      clients.set(requester.client, operations.set(requester, items.add(item)));
      requestersOf.set(item, requesters.add(requester));
    },
    /** Removes the item that is due for all operations; `undefined` if none waits. */
    next(): T | undefined {
      const operations = rotate(clients);
      const [item] = (operations && rotate(operations)) ?? [];
      if (item !== undefined) remove(item);
      return item;
    },
    leave,
    remove,
    /**
     * The item to refuse when the queue is too long: of the client with the most items, and of its operation with the most, the
     * newest one. An item counts for the operation that added it first. One that other clients wait for too is only refused if
     * there is no other.
     */
    itemToRefuse(): T | undefined {
      const newestFirst = [...requestersOf]
        .reverse()
        .map(([item, requesters]) => ({ item, requesters: [...requesters] }));
      const ofClient = largestGroup(newestFirst, ({ requesters: [owner] }) => owner?.client);
      const ofOperation = largestGroup(ofClient, ({ requesters: [owner] }) => owner);
      const unshared = ofOperation.find(({ requesters: [owner, ...others] }) =>
        others.every(({ client }) => client === owner?.client),
      );
      return (unshared ?? ofOperation[0])?.item;
    },
  };
}

/** In the order of the turns: the next one is first. */
type Rotation<Value> = Map<unknown, Value>;

/** Returns the first value and moves it to the end. */
function rotate<Value>(rotation: Rotation<Value>): Value | undefined {
  const [first] = rotation;
  if (first === undefined) return undefined;
  const [key, value] = first;
  rotation.delete(key);
  rotation.set(key, value);
  return value;
}

/** The largest group of values with the same key; among equals the one that comes first. */
function largestGroup<Value>(values: readonly Value[], keyOf: (value: Value) => unknown): readonly Value[] {
  const groups = Map.groupBy(values, keyOf).values();
  return groups.reduce<readonly Value[]>((largest, group) => (group.length > largest.length ? group : largest), []);
}
