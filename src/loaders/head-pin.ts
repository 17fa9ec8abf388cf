import { type BeaconHeight, isFinal } from '../domain/beacon-height.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import type { Head } from '../live/chain/head.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import type { Dependencies } from './dependencies.ts';

type Heads = Pick<HeadFollower, 'current' | 'get' | 'nextAt'>;

/**
 * Pins a response to the one head that it describes: the initial one, or the one that is current when a field first needs it.
 * Reading it adds it to the dependencies of the response.
 */
export class HeadPin {
  readonly #follower: Heads;
  readonly #dependencies: Dependencies;
  #pinned: Head | undefined;
  #first: Promise<Head> | undefined;
  #isUsed = false;

  constructor(follower: Heads, dependencies: Dependencies, initial: Head | undefined) {
    this.#follower = follower;
    this.#dependencies = dependencies;
    this.#pinned = initial;
  }

  /** The head, without waiting; `undefined` if none is published yet. */
  current(): Head | undefined {
    const head = this.#pinNow();
    this.#depend(head);
    return head;
  }

  /** Waits only if no head is published yet. @throws UpstreamError */
  get(): MaybePromise<Head> {
    return andThen(this.#pin(), (head) => this.current() ?? head);
  }

  /** Like `current`. If another field of the response waits for the first head, it waits too. */
  described(): MaybePromise<Head | undefined> {
    return this.current() ?? this.#pinWithOthers();
  }

  /**
   * The head that the heights in an operation are compared with. It is added to the dependencies only if one of them is not
   * final under it, because the state at a final height is the same under every later head.
   *
   * @throws UpstreamError
   */
  getFor(heights: readonly BeaconHeight[]): MaybePromise<Head> {
    return andThen(this.#pin(), (head) => {
      for (const height of heights) this.#dependFor(height, head);
      return head;
    });
  }

  /** The same without waiting; `undefined` if no head is published yet. */
  currentFor(height: BeaconHeight): Head | undefined {
    const head = this.#pinNow();
    this.#dependFor(height, head);
    return head;
  }

  /** The head that the response describes, as far as its fields have been read; `undefined` if it depends on none. */
  used(): Head | undefined {
    return this.#isUsed ? this.#pinned : undefined;
  }

  #pinNow(): Head | undefined {
    this.#pinned ??= this.#follower.current();
    return this.#pinned;
  }

  #pin(): MaybePromise<Head> {
    return this.#pinNow() ?? this.#pinFirst();
  }

  async #pinFirst(): Promise<Head> {
    this.#first = this.#follower.get();
    const awaited = await this.#first;
    this.#pinned ??= awaited;
    return this.#pinned;
  }

  async #pinWithOthers(): Promise<Head | undefined> {
    // The fields after this one have not started yet.
    await undefined;
    await this.#first?.catch(() => {});
    return this.current();
  }

  #depend(head: Head | undefined): void {
    if (this.#isUsed && head !== undefined) return;
    this.#isUsed = head !== undefined;
    this.#dependencies.dependOn(this.#follower.current, head, this.#follower.nextAt);
  }

  #dependFor(height: BeaconHeight, head: Head | undefined): void {
    if (head !== undefined && isFinal(height, head.beaconHeight)) this.#dependencies.includeFinalHeight();
    else this.#depend(head);
  }
}
