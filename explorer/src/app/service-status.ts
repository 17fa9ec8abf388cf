import { useGatewayQuery } from '../client/hooks.ts';
import { ServiceDocument, type ServiceQuery } from './service.generated.ts';

/** What the gateway says about itself. */
export type ServiceStatus = ServiceQuery['service'];

/** Nothing is pushed when an upstream stops answering, so the status is requested again at this interval. */
const REFRESH_MS = 5_000;

const NO_VARIABLES = {};

/** What the gateway says about itself, at most a few seconds old. */
export function useServiceStatus(): ServiceStatus | undefined {
  return useGatewayQuery(ServiceDocument, NO_VARIABLES, { refresh: REFRESH_MS }).data?.service;
}
