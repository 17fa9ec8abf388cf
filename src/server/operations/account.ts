import type { GraphQLError } from 'graphql';
import type { ClientIdentity } from '../clients/client-address.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { OperationTransport } from '../metrics/metrics.ts';

/** The points that one operation takes from the rate limit of its client. Without a rate limit it takes none. */
export class Account {
  /** The points that were charged so far. */
  paid: number;
  readonly #rates: RateLimits | undefined;
  readonly #caller: ClientIdentity | undefined;
  readonly #transport: OperationTransport;

  /** @param paid the points that were charged for its request */
  constructor(
    rates: RateLimits | undefined,
    caller: ClientIdentity | undefined,
    transport: OperationTransport,
    paid = 0,
  ) {
    this.#rates = rates;
    this.#caller = caller;
    this.#transport = transport;
    this.paid = paid;
  }

  /** Charges the points that are missing to this number. @returns the error if the client does not have them */
  charge(points: number): GraphQLError | undefined {
    if (this.#rates === undefined || this.#caller === undefined || points <= this.paid) return undefined;
    const refusal = this.#rates.charge(this.#caller, this.#transport, points, this.paid);
    if (refusal === undefined) this.paid = points;
    return refusal;
  }

  /** Charges more points for work that is done already. It may leave the client in debt. */
  debit(points: number): void {
    if (this.#rates === undefined || this.#caller === undefined || points <= 0) return;
    this.#rates.debit(this.#caller, points);
    this.paid += points;
  }
}
