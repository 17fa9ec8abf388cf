/** A tab of GraphiQL with an example. */
export type ExampleTab = {
  /** Begins with a comment about what the tab shows. No line is longer than 50 columns. The operation's name is the tab's title. */
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Sets the variable `height` to the newest height minus this number. */
  readonly heightsBack?: number;
  /** Sets the variable `time` to the time when GraphiQL is opened, minus this number of minutes. */
  readonly minutesBack?: number;
};

const PRV = '4'.padStart(64, '0');
/** It has pools in both versions of the exchange, unlike the ETH of V1. */
const BTC = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
const XMR = 'c01e7dc1d1aba995c19b257412340b057f8ad1482ccb6a9bb0adce61afbf05d4';

/** USDT and ETH of all networks, as the exchange of the third version holds them, and their largest pool. */
const UNIFIED_USDT = '076a4423fa20922526bd50b0d7b0dc1c593ce16e15ba141ede5fb5a28aa3f229';
const UNIFIED_ETH = '3ee31eba6376fc16cadb52c8765f20b6ebff92c0b1c5ab5fc78c8c25703bb19e';
const USDT_ETH_POOL = `${UNIFIED_USDT}-${UNIFIED_ETH}-d3976e67fbefe50eb3f4ec9f2266b734a49f3c97effa825117db84ac08f60b6d`;

/**
 * The tabs that GraphiQL opens with, in their order. A window of 1280 pixels shows six with short titles: an example that a
 * newcomer does not need belongs to `docs/queries.md`.
 */
export const EXAMPLE_TABS: readonly ExampleTab[] = [
  {
    query: `# Prices of the largest pools: token 1 needed
# to buy one whole token 2. A pool has no price if
# the decimals of a token are not known. For the
# next page, read at the same height, set the
# variable "after" to endCursor.
query Prices($after: String) {
  beaconHeight
  poolPairs(
    first: 5
    after: $after
    orderBy: NATIVE_LIQUIDITY_DESC
  ) {
    totalCount
    pageInfo { hasNextPage endCursor }
    nodes {
      token1 { symbol decimals }
      token2 { symbol decimals }
      price
      exactPrice
      spotPrice
    }
  }
}
`,
    variables: { after: null },
  },
  {
    query: `# Live prices over a websocket, again at each
# new beacon height. The stop button ends them.
subscription Live($tokenIds: [TokenId!]) {
  prices(tokenIds: $tokenIds) {
    beaconHeight
    previousHeight
    poolPairs {
      token1 { symbol }
      token2 { symbol }
      price
    }
  }
}
`,
    variables: { tokenIds: [XMR] },
  },
  {
    query: `# A market from both sides: the host's ticker
# and order book, and the node's pool. poolPrice,
# lastPrice and the book count target per base.
# divergence compares the three, and depthLadder
# has pool and book in one.
query Market($tickerId: String!) {
  pair(tickerId: $tickerId) {
    base
    target
    poolPrice
    ticker { lastPrice baseVolume targetVolume }
    divergence { lastPercent bookPercent }
    orderBook(depth: 6) {
      bids { price quantity cumulativeQuantity }
      asks { price quantity cumulativeQuantity }
      spread
      quality { wasSorted isCrossed }
    }
    depthLadder(levels: 3, stepPercent: 0.5) {
      midPrice
      bids { price quantity cumulativeTotal }
      asks { price quantity cumulativeTotal }
    }
    poolPair {
      beaconHeight
      price
      token1PoolValue
      token2PoolValue
    }
  }
}
`,
    variables: { tickerId: 'pBTC_PRV' },
  },
  {
    query: `# A swap: the best route for 1,000 PRV to BTC,
# and what each pool gives, without the
# exchange's fee.
query Swap(
  $sell: TokenId!
  $buy: TokenId!
  $amount: BigInt!
) {
  quote(
    sellTokenId: $sell
    buyTokenId: $buy
    sellAmount: $amount
    maxHops: 3
  ) {
    beaconHeight
    buyAmount
    minimumReceived(slippagePercent: 0.5)
    price
    priceImpactPercent
    route {
      sellToken { symbol }
      buyToken { symbol }
      sellAmount
      buyAmount
      priceImpactPercent
    }
  }
}
`,
    variables: { sell: PRV, buy: BTC, amount: '1000000000000' },
  },
  {
    query: `# The third version of the exchange (V3): which
# version trades, a pool by its id with its open
# orders and what it really traded, and a quote
# with the least fee. While V1 trades, there is no
# such pool, and fee is null.
query V3(
  $poolId: String!
  $sell: TokenId!
  $buy: TokenId!
  $amount: BigInt!
) {
  service { exchangeVersion }
  pool(poolId: $poolId) {
    beaconHeight
    token1 { symbol }
    token2 { symbol }
    price
    amplifier
    feeRateBps
    isTradable
    token1PoolValue
    token1VirtualValue
    orders(first: 4) {
      sellToken { symbol }
      sellAmount
      price
      isMatchable
    }
    book(depth: 4) {
      bids { price quantity }
      asks { price quantity }
      isCrossed
    }
    volume { token1 token2 trades isComplete }
    trades(first: 3) {
      nodes {
        time
        sellToken { symbol }
        sellAmount
        buyAmount
        price
      }
    }
  }
  quote(
    sellTokenId: $sell
    buyTokenId: $buy
    sellAmount: $amount
    maxHops: 4
  ) {
    buyAmount
    fee { rateBps inSellToken inNativeToken }
    route { buyAmount poolPair { poolId } }
  }
}
`,
    variables: { poolId: USDT_ETH_POOL, sell: UNIFIED_USDT, buy: UNIFIED_ETH, amount: '100000000' },
  },
  {
    query: `# The past: the pool 90 blocks ago, the height of
# an hour ago, and what is recorded: the change
# of a day and candles. The variables have the
# height and the time.
query Past(
  $height: BeaconHeight
  $time: DateTime!
  $interval: CandleInterval!
) {
  beaconHeight
  beaconHeightAt(time: $time)
  earlier: poolPairs(
    first: 1
    orderBy: NATIVE_LIQUIDITY_DESC
    at: $height
  ) {
    nodes {
      id
      token1 { symbol }
      token2 { symbol }
      price
    }
  }
  history { firstTime lastHeight isBackfilling }
  pair(tickerId: "pBTC_PRV") {
    poolPair {
      price
      change(hours: 24) {
        percent
        high
        low
        isComplete
      }
      candles(interval: $interval, last: 5) {
        openTime
        open
        high
        low
        close
        isClosed
      }
    }
  }
}
`,
    variables: { interval: 'ONE_HOUR' },
    heightsBack: 90,
    minutesBack: 60,
  },
];
