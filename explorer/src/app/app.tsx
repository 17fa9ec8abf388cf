import { useEffect, useState } from 'react';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { GatewayProvider } from '../client/gateway.tsx';
import { preloadPages, routes } from './routes.tsx';

const PRELOAD_AFTER_MS = 1_500;

/** The explorer. */
export function App() {
  const [router] = useState(() => createBrowserRouter(routes));
  useEffect(() => {
    // The page that is open comes first, with its data.
    const timer = setTimeout(preloadPages, PRELOAD_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <GatewayProvider>
      <RouterProvider router={router} />
    </GatewayProvider>
  );
}
