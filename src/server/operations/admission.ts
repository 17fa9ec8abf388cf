import type { GraphQLError } from 'graphql';
import { GatewayError } from '../../errors.ts';
import { costOfSent, createCostMeasure, type Operation, type OperationCost } from '../../graphql/cost.ts';
import { textOf } from '../../graphql/document-locations.ts';
import { createInputs, type Inputs } from '../../graphql/inputs.ts';
import type { Limits } from '../../graphql/limits.ts';
import type { ClientIdentity } from '../clients/client-address.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { OperationTransport } from '../metrics/metrics.ts';
import { refusal } from './refusal.ts';

/**
 * Decides whether operations may be executed. Each is measured once and charged once, by whichever door it comes and
 * however often it is asked for: an operation is known by its context.
 */
export type Admission = {
  /**
   * Charges for a request before its body is read, or a websocket is opened; once, however many doors it passes.
   *
   * @returns why not, where that is not paid
   */
  chargeRequest(request: ClientIdentity, door: OperationTransport): GraphQLError | undefined;
  /** Charges for a document before it is read: what it costs to refuse one. @throws GraphQLError where it is not paid */
  chargeDocument(context: object, text: string): void;
  /** About how many values one answer holds; 0 for an operation that asks for too much. */
  valuesOf(operation: Operation): number;
  /** Charges what an operation costs beyond its document. @returns why it is not executed, where it is not */
  refusalOf(operation: Operation): GraphQLError | undefined;
  /** What an operation costs; `undefined` for one that asks for too much. */
  costOf(operation: Operation): ChargedCost | undefined;
  /** Charges for the errors that an answer reports: a point for each after the first. It may leave the client in debt. */
  chargeErrors(context: object, errors: number): void;
  /** What an operation has taken of its client's points, by its context. */
  paid(context: object): number;
  /** Charges a request for an answer that was made for another and took so many points. @returns why it is not given */
  chargeAgain(request: ClientIdentity, points: number): GraphQLError | undefined;
};

/** What an operation costs, with the points that a rate limit charges for it. */
export type ChargedCost = OperationCost & { readonly points: number };

type Measured = { readonly cost: OperationCost } | { readonly refusal: GraphQLError };

/** What is known of one operation so far. Where nobody pays, most have none: finding one again takes a share of a small query. */
type Ticket = { paid: number; measured?: Measured };

/** Reading this much of a document takes no longer than answering the smallest request, even of the worst document. */
const CHARACTERS_PER_POINT = 50;

/** Makes what holds operations to the limits, and clients to their rates where there are any. */
export function createAdmission(
  limits: Limits,
  rates: RateLimits | undefined,
  inputs: Inputs = createInputs(),
): Admission {
  const tickets = new WeakMap<object, Ticket>();
  /** The operation that was measured last: most are asked for once more at once, or never again. */
  let last: { readonly context: object; readonly measured: Measured } | undefined;
  const costOf = createCostMeasure(limits, inputs);
  /** Requests that have paid a point, which their first operation need not pay again. */
  const prepaid = new WeakSet<ClientIdentity>();

  function ticketOf(context: object): Ticket {
    const ticket = tickets.get(context) ?? { paid: 0 };
    tickets.set(context, ticket);
    return ticket;
  }

  function measure(operation: Operation): Measured {
    try {
      return { cost: costOf(operation) };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { refusal: refusal(error.code, error.message) };
    }
  }

  function measureOnce(operation: Operation): Measured {
    const { contextValue: context } = operation;
    if (last?.context !== context) last = { context, measured: tickets.get(context)?.measured ?? measure(operation) };
    return last.measured;
  }

  /** Charges what is not paid yet of so many points. */
  function charge(context: object, points: number): GraphQLError | undefined {
    const { req, res } = context as DoorContext;
    // What asks without a door, such as a test, has no address.
    if (rates === undefined || req === undefined) return undefined;
    const ticket = ticketOf(context);
    if (points <= ticket.paid) return undefined;
    const refused = rates.charge(req, res === undefined ? 'websocket' : 'http', points, ticket.paid);
    if (refused === undefined) ticket.paid = points;
    return refused;
  }

  return {
    chargeRequest(request, door) {
      if (rates === undefined || prepaid.has(request)) return undefined;
      const refused = rates.charge(request, door, 1);
      if (refused === undefined) prepaid.add(request);
      return refused;
    },
    chargeDocument(context, text) {
      if (rates === undefined) return;
      const { req } = context as DoorContext;
      if (req !== undefined && prepaid.delete(req)) ticketOf(context).paid = 1;
      const refused = charge(context, pointsOfDocument(text));
      if (refused !== undefined) throw refused;
    },
    valuesOf(operation) {
      const measured = measureOnce(operation);
      ticketOf(operation.contextValue).measured = measured;
      return 'cost' in measured ? measured.cost.values : 0;
    },
    refusalOf(operation) {
      const measured = measureOnce(operation);
      if ('refusal' in measured) {
        charge(operation.contextValue, Math.ceil(costOfSent(operation)));
        return measured.refusal;
      }
      return charge(operation.contextValue, Math.ceil(measured.cost.complexity));
    },
    costOf(operation) {
      const measured = measureOnce(operation);
      if ('refusal' in measured) return undefined;
      const { complexity, values } = measured.cost;
      const points = Math.max(pointsOfDocument(textOf(operation.document) ?? ''), Math.ceil(complexity));
      return { points, complexity, values };
    },
    chargeErrors(context, errors) {
      const { req } = context as DoorContext;
      if (rates === undefined || req === undefined || errors <= 1) return;
      rates.debit(req, errors - 1);
      ticketOf(context).paid += errors - 1;
    },
    paid: (context) => tickets.get(context)?.paid ?? 0,
    chargeAgain(request, points) {
      if (rates === undefined || points <= 1) return undefined;
      return rates.charge(request, 'http', points, 1);
    },
  };
}

/** What reading a document costs. */
function pointsOfDocument(text: string): number {
  return Math.max(1, Math.ceil(text.length / CHARACTERS_PER_POINT));
}

/** What the doors put into the context of an operation: over HTTP both, on a websocket what is kept of the request that opened it. */
type DoorContext = { readonly req?: ClientIdentity; readonly res?: unknown };
