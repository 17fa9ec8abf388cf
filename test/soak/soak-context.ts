import { onTestFinished } from 'vitest';
import type { SoakContext } from '../../soak/context.ts';
import { createJudge, type GraphqlResponse, type Operation } from '../../soak/judge.ts';
import { createOutages } from '../../soak/outages.ts';
import { routeToOne } from '../../soak/routes.ts';
import { createServedBlocks } from '../../soak/served-blocks.ts';
import { createShownBlocks } from '../../soak/shown-blocks.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../support/gateway.ts';

type Falsify = (answer: GraphqlResponse) => void;

/** A gateway, and the context of a soak run around it. */
export async function startContext({ config, ...options }: TestGatewayOptions = {}) {
  const gateway = await startGatewayForTest({ ...options, config: { orderBookTtlMs: 50, ...config } });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const shown = createShownBlocks(gateway.sandbox);
  const outages = createOutages(1);
  const served = createServedBlocks(shown, outages);
  const judge = createJudge(outages, () => {});
  const context: SoakContext = {
    url: new URL('http://gateway/graphql'),
    routes: routeToOne(new URL('http://gateway/graphql')),
    replicas: 1,
    shown,
    served,
    outages,
    judge,
    load: 1,
    signal: stop.signal,
  };

  /** Sends an operation. @returns what the judge finds in a copy of its response, which can be falsified before */
  async function judged({ query, variables, check }: Operation) {
    const minHeight = served.highest();
    const sentAt = performance.now();
    const answer: GraphqlResponse = await gateway.ask(query, variables);
    const times = { sentAt, answeredAt: performance.now(), minHeight };
    return (falsify: Falsify = () => {}): string | undefined => {
      const copy = structuredClone(answer);
      falsify(copy);
      return check?.(copy.data ?? {}, times);
    };
  }

  const mismatchOf = async (operation: Operation, falsify?: Falsify) => (await judged(operation))(falsify);
  return { ...gateway, context, judged, mismatchOf };
}
