import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { listMismatch } from '../expected/market.ts';
import { expectedAmounts, type Trade } from '../expected/quote.ts';
import type { Operation } from '../judge.ts';

type QuoteResult = { readonly beaconHeight: number; readonly sellAmount: string; readonly buyAmount: string };
type Data = {
  readonly beaconHeight?: number;
  readonly now?: QuoteResult | null;
  readonly earlier?: QuoteResult | null;
};

/** How far back the earlier height is, at most. */
const REACH = 60;

/** The quote of a trade at the current height and at an earlier one. */
export function quoteQuery({ shown, served }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  const tokens = chain.pools.flatMap(({ token1, token2 }) => [token1.id, token2.id]);
  const sell = pick(random, tokens);
  const others = tokens.filter((token) => token !== sell);
  const trade: Trade = {
    sell,
    buy: pick(random, others),
    amount: BigInt(Math.ceil(10 ** random.between(0, 15))),
    isSelling: random.chance(0.5),
    maxHops: 1 + random.below(3),
  };
  const at = Math.max(chain.oldestHeight, served.highest() - 1 - random.below(REACH));
  const args = `sellTokenId: $sell, buyTokenId: $buy, ${trade.isSelling ? 'sellAmount' : 'buyAmount'}: $amount, maxHops: $maxHops`;
  const mismatch =
    (name: string, height: number, quote: QuoteResult | null) => (block: Parameters<typeof expectedAmounts>[1]) => {
      const amounts = expectedAmounts(chain, block, trade);
      const expected = amounts && {
        beaconHeight: height,
        sellAmount: String(amounts.sellAmount),
        buyAmount: String(amounts.buyAmount),
      };
      return listMismatch([quote], [expected ?? null], name);
    };
  return {
    kind: 'quotes',
    query: `query ($sell: TokenId!, $buy: TokenId!, $amount: BigInt!, $maxHops: Int!) {
      beaconHeight
      now: quote(${args}) { beaconHeight sellAmount buyAmount }
      earlier: quote(${args}, at: ${at}) { beaconHeight sellAmount buyAmount }
    }`,
    variables: { sell, buy: trade.buy, amount: String(trade.amount), maxHops: trade.maxHops },
    check({ beaconHeight: height, now, earlier }: Data, times) {
      const pastMismatch =
        earlier === undefined ? undefined : served.mismatchAt(at, mismatch(`the quote at ${at}`, at, earlier));
      if (pastMismatch !== undefined || height === undefined || now === undefined) return pastMismatch;
      return served.mismatch(height, times, mismatch('the quote', height, now));
    },
  };
}
