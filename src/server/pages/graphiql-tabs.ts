type GraphiqlTab = {
  /** Begins with a comment about what the tab shows. No line is longer than 50 columns. */
  readonly query: string;
  /** As JSON. */
  readonly variables?: string;
  /** Sets the variable `height` to the newest height minus this number. */
  readonly heightsBack?: number;
};

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
    query: `# Live prices over a websocket: now, then at
# each new beacon height. The button stops it.
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
