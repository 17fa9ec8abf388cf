/** One operation of one client, which waits in a queue. Operations are compared by this object. */
export type Requester = { readonly client: string | symbol };

/**
 * Creates an empty queue that is shared fairly (round robin). Clients take turns, and so do the operations of each client. The items of
 * one operation come in their order. Several operations can wait for one item: it comes when it is due for any of them. The queue refers
 * to an operation only while the operation waits.
 *
 * Both levels are needed. If only operations took turns, a client would get more turns with more operations. If only clients
 * did, all clients behind an unknown proxy would count as one, and one operation of theirs could delay all others.
 */
export function createFairQueue<T>() {
  const waiting: Shares<T> = new Map();
  /** Each item only for the operation that has waited for it for the longest. */
  const owned: Shares<T> = new Map();
  /** The operations that wait for each item. The first one owns it. */
  const requestersOf = new Map<T, Set<Requester>>();

  /** Removes an item for all operations. */
  function remove(item: T): void {
    for (const requester of requestersOf.get(item) ?? []) leave(item, requester);
  }

  /** Removes an item for one operation. It stays for the others. */
  function leave(item: T, requester: Requester): void {
    const requesters = requestersOf.get(item);
    if (!requesters?.delete(requester)) return;
    for (const shares of [waiting, owned]) takeFrom(shares, item, requester);
    const [owner] = requesters;
    if (owner === undefined) requestersOf.delete(item);
    else addTo(owned, item, owner);
  }

  function clientsOf(item: T): ReadonlySet<Requester['client']> {
    return new Set([...(requestersOf.get(item) ?? [])].map(({ client }) => client));
  }

  return {
    /** How many items wait, each counted once. */
    size: () => requestersOf.size,
    has: (item: T) => requestersOf.has(item),
    /** Adds an item for an operation, unless the operation waits for it already. */
    add(item: T, requester: Requester): void {
      const requesters = requestersOf.get(item) ?? new Set();
      addTo(waiting, item, requester);
      if (requesters.size === 0) addTo(owned, item, requester);
      requestersOf.set(item, requesters.add(requester));
    },
    /** Removes the item that is due for all operations; `undefined` if none waits. */
    next(): T | undefined {
      const operations = rotate(waiting);
      const [item] = (operations && rotate(operations)) ?? [];
      if (item !== undefined) remove(item);
      return item;
    },
    leave,
    remove,
    /**
     * The item to refuse when the queue is too long: of the client with the most items, and of its operation with the most, the
     * one that it owns for the shortest time. One that other clients wait for too is only refused if there is no other.
     */
    itemToRefuse(): T | undefined {
      const operations = largest(owned, (each) => [...each.values()].reduce((sum, { size }) => sum + size, 0));
      const oldestFirst = [...(largest(operations, ({ size }) => size) ?? [])];
      return oldestFirst.findLast((item) => clientsOf(item).size === 1) ?? oldestFirst.at(-1);
    },
  };
}

/** The items of each operation, by its client. Clients and operations are in the order of their turns: the next one is first. */
type Shares<T> = Map<Requester['client'], Map<Requester, Set<T>>>;

function addTo<T>(shares: Shares<T>, item: T, requester: Requester): void {
  const operations = shares.get(requester.client) ?? new Map<Requester, Set<T>>();
  const items = operations.get(requester) ?? new Set<T>();
  shares.set(requester.client, operations.set(requester, items.add(item)));
}

function takeFrom<T>(shares: Shares<T>, item: T, requester: Requester): void {
  const operations = shares.get(requester.client);
  const items = operations?.get(requester);
  items?.delete(item);
  if (items?.size === 0) operations?.delete(requester);
  if (operations?.size === 0) shares.delete(requester.client);
}

/** Returns the first value and moves it to the end. */
function rotate<Key, Value>(rotation: Map<Key, Value>): Value | undefined {
  const [first] = rotation;
  if (first === undefined) return undefined;
  const [key, value] = first;
  rotation.delete(key);
  rotation.set(key, value);
  return value;
}

/** The largest value; among equals the last one. */
function largest<Value>(map: ReadonlyMap<unknown, Value> | undefined, sizeOf: (value: Value) => number) {
  const values = [...(map?.values() ?? [])];
  const sizes = values.map(sizeOf);
  return values[sizes.lastIndexOf(sizes.reduce((most, size) => Math.max(most, size), 0))];
}
