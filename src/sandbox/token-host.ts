import { type ChainToken, marketSymbol } from './chain/tokens.ts';
import type { TokenCall, TokenServiceFault } from './faults.ts';
import { createHost, type HostControl } from './http/host.ts';
import type { Address } from './http/listen.ts';
import { createWebWriter, json } from './http/response-writer.ts';

/** What tests see of a token service. */
export type TokenServiceControl = HostControl<TokenServiceFault, TokenCall>;

/** The path of the list. A service can have any path in front of it. */
export const TOKEN_LIST_PATH = '/coins/tokenlist';

/** Starts a service that describes the tokens of a chain which have a name. */
export function createTokenHost(tokens: readonly ChainToken[], address: Address): Promise<TokenServiceControl> {
  const named = tokens.filter(({ symbol }) => symbol !== undefined);
  const list = json(200, { Result: named.map(rowOf), Error: null });

  return createHost<TokenServiceFault, TokenCall>(address, {
    identify(method, path) {
      const url = URL.parse(path, 'http://host');
      const isList = method === 'GET' && url?.pathname.endsWith(TOKEN_LIST_PATH) === true;
      return { name: isList ? 'tokenlist' : undefined, params: Object.fromEntries(url?.searchParams ?? []) };
    },
    matches: () => true,
    respond({ name }, _body, faults) {
      const fault = faults.find(({ kind }) => kind === 'service-error');
      if (fault?.kind === 'service-error') return json(fault.status ?? 200, { Result: null, Error: fault.error });
      return name === undefined ? json(404, { Result: null, Error: 'not found' }) : list;
    },
    createWriter: createWebWriter,
    keepsAlive: true,
  });
}

function rowOf(token: ChainToken, index: number) {
  const { id, symbol = '', decimals } = token;
  return {
    ID: index + 1,
    CreatedAt: '2019-10-24T04:26:21Z',
    TokenID: id,
    Symbol: symbol,
    PSymbol: marketSymbol(token),
    Name: symbol,
    ContractID: '',
    // The decimals outside this chain. Amounts on the chain have `PDecimals`.
    Decimals: decimals === 9 ? 18 : decimals,
    PDecimals: decimals,
    Type: 0,
    CurrencyType: 1,
    Default: index < 8,
    Verified: index < 25,
    UserID: 0,
    ListChildToken: [],
  };
}
