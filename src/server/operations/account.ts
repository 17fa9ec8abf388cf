import type { GraphQLError } from 'graphql';
import type { ClientIdentity } from '../clients/client-address.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { OperationTransport } from '../metrics/metrics.ts';

/** The points that one operation takes from the rate limit of its client. Without a rate limit it takes none. */
export class Account {
  /** The points that were charged so far. */
  paid: number;
  readonly #rates: RateLimits | undefined;
  readonly #client: ClientIdentity | undefined;
  readonly #transport: OperationTransport;

  /** @param paid the points that were charged for its request */
  constructor(
    rates: RateLimits | undefined,
    client: ClientIdentity | undefined,
    transport: OperationTransport,
    paid = 0,
  ) {
    this.#rates = rates;
    this.#client = client;
    this.#transport = transport;
    this.paid = paid;
  }

  /** Charges what the operation has not paid yet of its total cost. @returns the error if the client has too few points */
  charge(total: number): GraphQLError | undefined {
    if (this.#rates === undefined || this.#client === undefined || total <= this.paid) return undefined;
    const refusal = this.#rates.charge(this.#client, this.#transport, total, this.paid);
    if (refusal === undefined) this.paid = total;
    return refusal;
  }

  /** Charges more points for work that is done already. It may leave the client in debt. */
  debit(points: number): void {
    if (this.#rates === undefined || this.#client === undefined || points <= 0) return;
    this.#rates.debit(this.#client, points);
    this.paid += points;
  }
}
