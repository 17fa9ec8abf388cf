/**
 * The names of well-known tokens, by their symbols. They only help a search: a symbol is not unique. Everybody can create a token with
 * any symbol, also `constructor`, which every object literal has.
 */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    PRV: 'Privacy Incognito',
    BTC: 'Bitcoin',
    ETH: 'Ethereum Ether',
    USDT: 'Tether',
    USDC: 'USD Coin',
    BUSD: 'Binance USD',
    GUSD: 'Gemini Dollar',
    TUSD: 'TrueUSD',
    XMR: 'Monero',
    BNB: 'Binance Coin',
    LTC: 'Litecoin',
    BCH: 'Bitcoin Cash',
    DASH: 'Dash',
    ZEC: 'Zcash',
    DAI: 'Dai',
    SAI: 'Sai',
    NEO: 'Neo',
    TOMO: 'TomoChain',
    KNC: 'Kyber Network',
    ZRX: '0x Protocol',
    BAT: 'Basic Attention Token',
    LINK: 'Chainlink',
    MKR: 'Maker',
    POWR: 'Power Ledger',
    DOT: 'Polkadot',
    MATIC: 'Polygon',
    SOL: 'Solana',
    UNI: 'Uniswap',
    DOGE: 'Dogecoin',
  }),
);

/** The words of the name of a token in lower case; none if it is not known. */
export function namesOfSymbol(symbol: string | null): readonly string[] {
  return (
    NAMES.get(symbol?.replace(/^p(?=[A-Z])/, '') ?? '')
      ?.toLowerCase()
      .split(' ') ?? []
  );
}
