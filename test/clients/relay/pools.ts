import { graphql } from 'relay-runtime';

/** A pool, which a component would show. */
export const pool = graphql`
  fragment pools_pool on PoolPair @refetchable(queryName: "poolsPoolRefetchQuery") {
    id
    beaconHeight
    price
  }
`;

/** A list of pools, page after page in both directions. `current` is the pool at the newest height, also on later pages. */
export const list = graphql`
  fragment pools_list on Query
  @refetchable(queryName: "poolsListPageQuery")
  @argumentDefinitions(
    first: { type: "Int" }
    after: { type: "String" }
    last: { type: "Int" }
    before: { type: "String" }
  ) {
    poolPairs(first: $first, after: $after, last: $last, before: $before, orderBy: NATIVE_LIQUIDITY_DESC)
      @connection(key: "pools_list_poolPairs") {
      edges {
        node {
          id
          ...pools_pool
          current {
            ...pools_pool
          }
        }
      }
    }
  }
`;

export const listQuery = graphql`
  query poolsListQuery($first: Int, $last: Int) {
    ...pools_list @arguments(first: $first, last: $last)
  }
`;

/** The pools of a token: a list of an object with an id. */
export const tokenList = graphql`
  fragment pools_ofToken on Token
  @refetchable(queryName: "poolsOfTokenPageQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 5 }, after: { type: "String" }) {
    symbol
    poolPairs(first: $first, after: $after) @connection(key: "pools_ofToken_poolPairs") {
      edges {
        node {
          id
          current {
            ...pools_pool
          }
        }
      }
    }
  }
`;

export const tokenQuery = graphql`
  query poolsOfTokenQuery($id: TokenId!) {
    token(id: $id) {
      ...pools_ofToken
    }
  }
`;

/** Brings the newest prices into the store. */
export const prices = graphql`
  subscription poolsPricesSubscription($onlyChanged: Boolean) {
    prices(onlyChanged: $onlyChanged) {
      beaconHeight
      poolPairs {
        ...pools_pool
      }
    }
  }
`;

/** A pool as it was, beside the pool as it is. */
export const pastQuery = graphql`
  query poolsPastQuery($token1Id: TokenId!, $token2Id: TokenId!, $at: BeaconHeight!) {
    past: poolPair(token1Id: $token1Id, token2Id: $token2Id, at: $at) {
      id
      ...pools_pool
    }
    now: poolPair(token1Id: $token1Id, token2Id: $token2Id) {
      id
      ...pools_pool
    }
  }
`;

/** A field that can fail, with its error. */
export const tickerQuery = graphql`
  query poolsTickerQuery($tickerId: String!) {
    ticker(tickerId: $tickerId) @catch {
      lastPrice
    }
    poolPairs(first: 1) {
      edges {
        node {
          id
        }
      }
    }
  }
`;

/** An object of every type. */
export const everythingQuery = graphql`
  query poolsEverythingQuery($tickerId: String!, $tokenId: TokenId!) {
    chainInfo {
      chainName
      beacon {
        hash
      }
      bestBlocks {
        height
        validationData {
          aggSig
        }
      }
    }
    service {
      version
      head {
        hash
      }
      limits {
        maxDepth
      }
      marketData {
        stale
      }
      upstreams {
        upstream
        healthy
      }
    }
    poolPairs(first: 5) {
      pageInfo {
        startCursor
      }
      edges {
        node {
          ...pools_pool
        }
      }
      nodes {
        ...pools_pool
      }
    }
    pairs {
      baseToken {
        symbol
      }
      poolPair {
        ...pools_pool
      }
      ticker {
        lastPrice
      }
    }
    deep: orderBook(tickerId: $tickerId, depth: 20) {
      ...pools_book
    }
    orderBook(tickerId: $tickerId, depth: 2) {
      ...pools_book
    }
    token(id: $tokenId) {
      ...pools_ofToken
    }
  }
`;

export const book = graphql`
  fragment pools_book on OrderBook {
    bids {
      price
      quantity
    }
    quality {
      isCrossed
    }
  }
`;
