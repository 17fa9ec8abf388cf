/** The queries that GraphiQL opens with: each a tab, each begins with a line that says what it teaches. */
export const GRAPHIQL_TABS: readonly string[] = [
  `# Prices of the largest pools: token 1 needed to buy
# one whole token 2, as documented and exactly.
query Prices {
  beaconHeight
  poolPairs(first: 5, orderBy: NATIVE_LIQUIDITY_DESC) {
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
  `# A market from both sides: the host's ticker and book,
# and the node's pool of the same two tokens.
query Market {
  pair(tickerId: "pBTC_PRV") {
    base
    target
    ticker { lastPrice baseVolume targetVolume }
    orderBook(depth: 6) {
      bids { price quantity cumulativeQuantity }
      asks { price quantity cumulativeQuantity }
      spread
      quality { wasSorted isCrossed entriesMerged }
    }
    poolPair { beaconHeight price token1PoolValue token2PoolValue }
  }
}
`,
  `# The chain, how fresh this gateway is,
# and what it allows.
query Status {
  chainInfo {
    chainName
    bestBlocks { chainId height epoch remainingBlockEpoch time }
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
  `# Time travel: the same pool now and at an earlier
# height. Put another one below beaconHeight in \`at\`.
query TimeTravel(
  $prv: TokenId! = "0000000000000000000000000000000000000000000000000000000000000004"
  $btc: TokenId! = "b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696"
) {
  beaconHeight
  now: poolPair(token1Id: $prv, token2Id: $btc) {
    id
    price
  }
  before: poolPair(token1Id: $prv, token2Id: $btc, at: 1639999) {
    id
    price
  }
}
`,
  `# Paging: put endCursor in \`after\` for the next page. It is
# read from the same height, also when the chain goes on.
query Pages {
  poolPairs(first: 3, after: null, filter: { symbols: ["BTC", "ETH"] }) {
    totalCount
    pageInfo { hasNextPage endCursor }
    edges {
      cursor
      node { id beaconHeight price }
    }
  }
}
`,
  `# Live prices over a websocket: now, then at each new
# beacon height. Stop it with the same button.
subscription LivePrices {
  prices(tokenIds: ["b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696"]) {
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
];
