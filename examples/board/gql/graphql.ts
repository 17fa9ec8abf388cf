/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
export type PricesSubscriptionVariables = Exact<{ [key: string]: never; }>;


export type PricesSubscription = { prices: { beaconHeight: number, blockTime: string, poolPairs: Array<{ id: string, price: number | null, token1PoolValue: string, token2: { symbol: string | null, tokenId: string } }> } };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}

export const PricesDocument = new TypedDocumentString(`
    subscription Prices {
  prices(
    tokenIds: "0000000000000000000000000000000000000000000000000000000000000004"
  ) {
    beaconHeight
    blockTime
    poolPairs {
      id
      price
      token1PoolValue
      token2 {
        symbol
        tokenId
      }
    }
  }
}
    `) as unknown as TypedDocumentString<PricesSubscription, PricesSubscriptionVariables>;