import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { isV3, tradingPools } from '../expected/exchange.ts';
import { listMismatch } from '../expected/market.ts';
import { expectedAmounts, type Trade } from '../expected/quote.ts';
import { mostBought } from '../expected/quote-v3.ts';
import type { Operation } from '../judge.ts';

type QuoteResult = { readonly beaconHeight: number; readonly sellAmount: string; readonly buyAmount: string };
type Data = {
  readonly beaconHeight?: number;
  readonly now?: QuoteResult | null;
  readonly earlier?: QuoteResult | null;
};

/** How far back the earlier height is, at most. */
const REACH = 60;

/** Amounts that are sold, to see whether any buys as much as requested: from one unit up to the most that the exchange accepts. */
const PROBES = Array.from({ length: 16 }, (_, index) => 16n ** BigInt(index));

/** The quote of a trade at the current height and at an earlier one. */
export function quoteQuery({ shown, served }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  const tokens = tradingPools(chain).flatMap(({ token1, token2 }) => [token1.id, token2.id]);
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
      if (isV3(chain)) {
        const wrong = v3Mismatch(name, quote, (amount) => mostBought(chain, block, trade, amount), trade);
        if (wrong !== undefined || quote === null) return wrong;
        return quote.beaconHeight === height ? undefined : `${name} is of ${quote.beaconHeight} instead of ${height}`;
      }
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
    heights: { earlier: at },
    check({ beaconHeight: height, now, earlier }: Data, times) {
      const pastMismatch =
        earlier === undefined ? undefined : served.mismatchAt(at, mismatch(`the quote at ${at}`, at, earlier));
      if (pastMismatch !== undefined || height === undefined || now === undefined) return pastMismatch;
      return served.mismatch(height, times, mismatch('the quote', height, now));
    },
  };
}

/** Compares a quote of V3 with the most that selling can give. A trade that is refused along all routes has none. */
function v3Mismatch(
  name: string,
  quote: QuoteResult | null,
  mostBought: (amount: bigint) => bigint | undefined,
  { amount, isSelling }: Trade,
): string | undefined {
  if (isSelling) {
    const most = mostBought(amount);
    const buyAmount = quote === null ? undefined : BigInt(quote.buyAmount);
    if (buyAmount !== most) return `${name} buys ${buyAmount} instead of ${most}`;
    return quote === null || BigInt(quote.sellAmount) === amount ? undefined : `${name} sells ${quote.sellAmount}`;
  }
  if (quote === null) {
    const enough = PROBES.find((sold) => (mostBought(sold) ?? 0n) >= amount);
    return enough === undefined ? undefined : `${name} is null, though ${enough} buys ${amount}`;
  }
  const sellAmount = BigInt(quote.sellAmount);
  const [most, less] = [mostBought(sellAmount) ?? 0n, sellAmount > 1n ? (mostBought(sellAmount - 1n) ?? 0n) : 0n];
  if (most < amount) return `${name} sells ${sellAmount}, which buys ${most} and not ${amount}`;
  return less >= amount ? `${name} sells ${sellAmount}, though one unit less buys ${less} of ${amount}` : undefined;
}
