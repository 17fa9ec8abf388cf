import { createContext, useContext } from 'react';
import { useGatewayQuery } from '../client/hooks.ts';
import { canSortByChangeOf, hasHistoryOf, lastingKeys } from './notices.ts';
import { ServiceDocument, type ServiceQuery } from './service.generated.ts';

/** What the gateway says about itself. */
export type ServiceStatus = ServiceQuery['service'];

/** Nothing is pushed when an upstream stops answering, so the status is requested again at this interval. */
const REFRESH_MS = 5_000;

const NO_VARIABLES = {};

/** What the shell has read, for all that is inside. If each panel read it by itself, each would request it at its own times. */
export const ServiceContext = createContext<ServiceStatus | undefined>(undefined);

/** Reads what the gateway says about itself, and keeps it fresh, also for the title of a tab in the background. */
export function useServiceReading(): ServiceStatus | undefined {
  return useGatewayQuery(ServiceDocument, NO_VARIABLES, { refresh: REFRESH_MS, whileHidden: true }).data?.service;
}

/** What the gateway says about itself, at most a few seconds old. */
export function useServiceStatus(): ServiceStatus | undefined {
  return useContext(ServiceContext);
}

/** The keys of lasting notices that the gateway has written into the page, so that it is drawn with all that is known. */
export function servedNotices(): string {
  return document.documentElement.dataset['notices'] ?? '';
}

/** What the gateway lacks or is, as long as it runs: the keys of its lasting notices. Known before it has sent its status. */
export function useLastingKeys(): readonly string[] {
  return lastingKeys(useServiceStatus(), servedNotices());
}

/** Whether prices are recorded; undefined until the gateway has said so, and while they cannot be read. */
export function useHasHistory(): boolean | undefined {
  return hasHistoryOf(useServiceStatus(), servedNotices());
}

/** Whether lists can be sorted by changes of prices: not while these cannot be read. True until the gateway has said it. */
export function useCanSortByChange(): boolean {
  return canSortByChangeOf(useServiceStatus(), servedNotices());
}
