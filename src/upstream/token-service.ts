import { MAX_DECIMALS } from '../domain/amount.ts';
import type { Token } from '../domain/token.ts';
import { UpstreamBadShapeError } from '../errors.ts';
import type { HealthRecord } from './health.ts';
import type { HttpClient } from './http.ts';
import { createRowsReader, type Rows } from './rows.ts';
import { readInteger, readObject, readString, readTokenId, ShapeError } from './wire.ts';

/** A token as the service describes it. */
export type ServiceToken = Token & {
  /** Whether the operator of the service has checked the description. Everybody can create a token with any symbol. */
  readonly isVerified: boolean;
};

/** A client of a token service. */
export type TokenService = ReturnType<typeof createTokenService>;

type TokenServiceOptions = {
  readonly http: HttpClient;
  /** The whole address of the list. */
  readonly url: URL;
  readonly health: Pick<HealthRecord<'TOKENS'>, 'watch'>;
};

/** Further tokens are dropped: everybody can create one. */
const MAX_TOKENS = 50_000;

/** The symbols of tokens have some ten characters. */
const MAX_SYMBOL_LENGTH = 64;

/** Creates the client of a token service. */
export function createTokenService({ http, url, health }: TokenServiceOptions) {
  async function read(previous: readonly ServiceToken[] | undefined): Promise<Rows<ServiceToken>> {
    const list = await http.request({ name: 'tokenlist', url }, createTokensReader(previous));
    if (list.rows.length > 0) return list;
    throw new UpstreamBadShapeError('TOKENS', 'it has no token that can be read', { dropped: list.dropped });
  }

  return {
    /**
     * All tokens, and the number of entries that could not be read.
     *
     * @param previous the tokens of the response before: an equal list is the same object again
     * @throws UpstreamError also if no entry can be read
     */
    list: (previous: readonly ServiceToken[] | undefined) => health.watch('tokenlist', read(previous)),
  };
}

function createTokensReader(previous: readonly ServiceToken[] | undefined) {
  let count = 0;
  return createRowsReader<ServiceToken>({
    name: 'Result',
    previous,
    keep: ['Error'],
    check(document) {
      // A service can report an error with status 200.
      if (document['Error'] != null) throw new ShapeError('null', '$.Error');
    },
    read(value) {
      count += 1;
      if (count > MAX_TOKENS) throw new ShapeError(`at most ${MAX_TOKENS} entries`, '$.Result');
      return readToken(value);
    },
  });
}

/**
 * Decodes one entry. `PDecimals` are those on this chain, `Decimals` those on the token's own. For a token that nobody has described, the
 * service sends an empty `PSymbol` and 0 decimals. @throws ShapeError
 */
function readToken(value: unknown): ServiceToken {
  const path = '$.Result[…]';
  const row = readObject(value, path);
  const symbol = readString(row['Symbol'], `${path}.Symbol`);
  if (symbol.length > MAX_SYMBOL_LENGTH) throw new ShapeError('a short text', `${path}.Symbol`);
  const decimals = readInteger(row['PDecimals'], `${path}.PDecimals`, MAX_DECIMALS);
  return {
    tokenId: readTokenId(row['TokenID'], `${path}.TokenID`),
    symbol: symbol === '' ? undefined : symbol,
    decimals: row['PSymbol'] === '' && decimals === 0 ? undefined : decimals,
    isVerified: row['Verified'] === true,
  };
}
