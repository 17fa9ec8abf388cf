/** The endpoints of a market-data host, as its paths name them. */
type Endpoint = 'pairs' | 'tickers' | 'orderbook';

/** The documented path, or a part of it: people also copy the complete URL of an endpoint. */
const DOCUMENTED_PATH =
  /\/api\/v1\/public(?:\/(?!(?:pairs|tickers|orderbook)$)(?<partner>[^/]+))?(?<endpoint>\/(?:pairs|tickers|orderbook))?$/;

/**
 * Creates the addresses of a host's endpoints, `<prefix>/api/v1/public/<partner>/<endpoint>`. Parts of this path that the URL
 * has already are not added again.
 *
 * @param partner used if the URL does not name one
 */
export function createAddresses(baseUrl: URL, partner: string): (endpoint: Endpoint) => URL {
  const path = baseUrl.pathname.replace(/\/+$/, '');
  const documented = DOCUMENTED_PATH.exec(path);
  const prefix = path.slice(0, documented?.index);
  const segment = documented?.groups?.['partner'] ?? encodeURIComponent(partner);

  return (endpoint) => {
    const url = new URL(baseUrl);
    url.pathname = `${prefix}/api/v1/public/${segment}/${endpoint}`;
    // The parameters of a copied endpoint belong to one call.
    if (documented?.groups?.['endpoint'] !== undefined)
      for (const name of CALL_PARAMETERS) url.searchParams.delete(name);
    return url;
  };
}

const CALL_PARAMETERS = ['ticker_id', 'depth'];
