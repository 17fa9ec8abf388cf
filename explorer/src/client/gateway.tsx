import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { Provider } from 'urql';
import { type Connection, createConnection } from './connection.ts';
import { createServerClock, type ServerClock } from './server-clock.ts';
import { createSession, type Session } from './session.ts';
import { createStore, type Store } from './store.ts';

/** The gateway, as components see it through the hooks of this folder. */
type Gateway = {
  readonly connection: Connection;
  readonly clock: ServerClock;
  readonly session: Session;
  /** The status of the last response over HTTP; `undefined` before the first one. */
  readonly lastStatus: Store<number | undefined>;
  /** When the page began again with another chain, by the clock of this computer, in milliseconds. */
  readonly beganAgainAt: number | undefined;
};

const GatewayContext = createContext<Gateway | undefined>(undefined);

/** The gateway that this page shows. */
export function useGateway(): Gateway {
  const gateway = useContext(GatewayContext);
  if (gateway === undefined) throw new Error('there is no GatewayProvider around this component');
  return gateway;
}

/** Connects to the gateway that serves the page. When it shows another chain, everything inside begins again. */
export function GatewayProvider({ children }: { readonly children: ReactNode }) {
  const [gateway, setGateway] = useState<Gateway>();

  useEffect(() => {
    const url = new URL('/graphql', location.href);
    const connection = createConnection(url.href.replace('http', 'ws'));
    const clock = createServerClock();
    const lastStatus = createStore<number | undefined>(undefined);
    let session: Session | undefined;
    function begin(beganAgainAt: number | undefined): void {
      const current = createSession({
        url: url.href,
        connection,
        clock,
        async fetch(...sent) {
          const response = await fetch(...sent);
          if (lastStatus.get() !== response.status) lastStatus.set(response.status);
          return response;
        },
        onOtherChain() {
          // Several answers of the other chain can be on their way.
          if (session === current) begin(Date.now());
        },
      });
      session?.dispose();
      session = current;
      setGateway({ connection, clock, session, lastStatus, beganAgainAt });
    }
    begin(undefined);
    return () => {
      session?.dispose();
      connection.dispose();
    };
  }, []);

  if (gateway === undefined) return null;
  return (
    <GatewayContext value={gateway}>
      <Provider key={gateway.session.id} value={gateway.session.client}>
        {children}
      </Provider>
    </GatewayContext>
  );
}
