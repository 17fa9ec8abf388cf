import { NATIVE_TOKEN_ID } from '../../domain/token.ts';

type GraphiqlTab = {
  /** Begins with a comment about what the tab shows. No line is longer than 50 columns. */
  readonly query: string;
  /** As JSON. */
  readonly variables?: string;
  /** Sets the variable `height` to the newest height minus this number. */
  readonly heightsBack?: number;
  /** Sets the variable `time` to the time when GraphiQL is opened, minus this number of minutes. */
  readonly minutesBack?: number;
};

const ETH = 'ffd8d42dc40a8d166ea4848baf8b5f6e912ad79875f4373070b59392b1756c8f';
const XMR = 'c01e7dc1d1aba995c19b257412340b057f8ad1482ccb6a9bb0adce61afbf05d4';

/** The tabs that GraphiQL opens with, in their order. */
export const GRAPHIQL_TABS: readonly GraphiqlTab[] = [
  {
    query: `# Prices of the largest pools: token 1 needed
# to buy one whole token 2.
query Prices {
  beaconHeight
  poolPairs(
    first: 5
    orderBy: NATIVE_LIQUIDITY_DESC
  ) {
    nodes {
      token1 { symbol }
      token2 { symbol }
      price
      exactPrice
      spotPrice
    }
  }
}
`,
  },
  {
    query: `# A market from both sides: the host's ticker
# and order book, and the node's pool. poolPrice,
# lastPrice and the book count target per base.
query Market {
  pair(tickerId: "pBTC_PRV") {
    base
    target
    poolPrice
    ticker { lastPrice baseVolume targetVolume }
    orderBook(depth: 6) {
      bids { price quantity cumulativeQuantity }
      asks { price quantity cumulativeQuantity }
      spread
      quality { wasSorted isCrossed }
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
  },
  {
    query: `# The chain, how fresh this gateway is,
# and its limits.
query Status {
  chainInfo {
    chainName
    bestBlocks {
      chainId
      height
      epoch
      remainingBlockEpoch
      time
    }
  }
  service {
    version
    sandbox
    head { beaconHeight ageMs stale }
    marketData { ageMs stale }
    upstreams { upstream healthy lastErrorCode }
    limits { maxDepth maxComplexity maxPageSize }
  }
}
`,
  },
  {
    query: `# Time travel: the largest pool now and 90
# blocks ago. Change the height in the variables.
query TimeTravel($height: BeaconHeight) {
  beaconHeight
  now: poolPairs(
    first: 1
    orderBy: NATIVE_LIQUIDITY_DESC
  ) {
    nodes { ...Price }
  }
  earlier: poolPairs(
    first: 1
    orderBy: NATIVE_LIQUIDITY_DESC
    at: $height
  ) {
    nodes { ...Price }
  }
}

fragment Price on PoolPair {
  id
  token1 { symbol }
  token2 { symbol }
  price
}
`,
    heightsBack: 90,
  },
  {
    query: `# The height of an hour ago, by the times of the
# blocks. Change the time in the variables.
query HeightAtTime($time: DateTime!) {
  beaconHeight
  beaconHeightAt(time: $time)
}
`,
    minutesBack: 60,
  },
  {
    query: `# Paging: set the variable "after" to endCursor
# for the next page, read at the same height.
query Pages($after: String) {
  poolPairs(
    first: 3
    after: $after
    filter: { symbols: ["BTC", "ETH"] }
  ) {
    totalCount
    pageInfo { hasNextPage endCursor }
    edges {
      cursor
      node { id beaconHeight price }
    }
  }
}
`,
    variables: json({ after: null }),
  },
  {
    query: `# A swap: the best route for 1,000 PRV, and what
# each pool gives, without the exchange's fee.
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
    variables: json({ sell: NATIVE_TOKEN_ID, buy: ETH, amount: '1000000000000' }),
  },
  {
    query: `# Depth: the trades that move the pool's price,
# and pool and order book in one ladder.
# divergence compares the three prices.
query Depth($tickerId: String!) {
  pair(tickerId: $tickerId) {
    divergence { lastPercent bookPercent }
    poolPair {
      depth(percents: [1, 5]) {
        percent
        upToken1
        upToken2
        downToken2
        downToken1
      }
    }
    depthLadder(levels: 5, stepPercent: 0.5) {
      midPrice
      bids { price quantity cumulativeTotal }
      asks { price quantity cumulativeTotal }
    }
    orderBook(depth: 6, groupBy: "50") {
      bids { exactPrice exactQuantity }
      asks { exactPrice exactQuantity }
    }
  }
}
`,
    variables: json({ tickerId: 'pBTC_PRV' }),
  },
  {
    query: `# The history of a pool: candles, the change of
# a day, and the values of a small chart.
query History($interval: CandleInterval!) {
  history { firstTime lastHeight isBackfilling }
  pair(tickerId: "pBTC_PRV") {
    poolPair {
      price
      change(hours: 24) {
        fromTime
        percent
        high
        low
        tradedToken2
        isComplete
      }
      sparkline(points: 12)
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
    variables: json({ interval: 'ONE_HOUR' }),
  },
  {
    query: `# The current candle, again at each new height.
# A closed candle is sent once more.
subscription LiveCandles(
  $token1: TokenId!
  $token2: TokenId!
) {
  candles(
    token1Id: $token1
    token2Id: $token2
    interval: ONE_MINUTE
  ) {
    openTime
    open
    high
    low
    close
    isClosed
  }
}
`,
    variables: json({ token1: NATIVE_TOKEN_ID, token2: ETH }),
  },
  {
    query: `# Live prices over a websocket, again at each
# new beacon height. The stop button ends them.
subscription LivePrices($tokenIds: [TokenId!]) {
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
    variables: json({ tokenIds: [XMR] }),
  },
];

function json(variables: object): string {
  return JSON.stringify(variables, null, 2);
}
