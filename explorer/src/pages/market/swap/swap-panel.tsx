import { type ReactNode, useId, useRef, useState } from 'react';
import type { GatewayError } from '../../../client/errors.ts';
import { useConnectionState, useHead } from '../../../client/hooks.ts';
import { type Latest, useLatest } from '../../../client/latest.ts';
import { useIsWatched } from '../../../client/visibility.ts';
import { formatExactAmount } from '../../../format/amounts.ts';
import { nameOfToken } from '../../../format/prices.ts';
import { Button } from '../../../parts/button.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { explainError } from '../../../parts/error-text.ts';
import { Freshness } from '../../../parts/freshness.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { isOfV3, type Market, type MarketToken } from '../market.ts';
import { readAmount, type TypedAmount } from './amount.ts';
import { AmountField } from './amount-field.tsx';
import { isCheaper, type Quote, QuoteView, sentenceOfQuote } from './quote-view.tsx';
import { staleQuoteReason } from './stale-quote.ts';
import { SwapQuoteDocument, type SwapQuoteSubscription } from './swap.generated.ts';
import styles from './swap.module.css';
import { SLIPPAGES, SWAP_PATHS, type SwapPath, type SwapState } from './swap-state.ts';
import { useSwapForm } from './use-swap-form.ts';

/** Calculates a swap of the two tokens of a market, again at each height. It sends nothing. */
export function SwapPanel({ market }: { readonly market: Market }) {
  const form = useSwapForm(market);
  const isV3 = isOfV3(market);
  const { shown, committed } = form;
  const element = useRef<HTMLDivElement>(null);
  const isWatched = useIsWatched(element);
  const [paid, received] = tokensOf(market, shown.side);
  const typed = readAmount(shown.amount, amountToken(shown.exact === 'pay' ? paid : received));

  const latest = useQuote(market, committed, !isWatched);
  const newest = latest.data?.quote;
  // Until the first quote of the other direction is there, the one of this direction is of the wrong tokens.
  const isOfDirection = newest?.route[0]?.sellToken.tokenId === paid.tokenId;
  const quote = typed.kind === 'amount' && (newest == null || isOfDirection) ? newest : undefined;
  const isOutdated = form.isTyping || latest.isOutdated;
  const connection = useConnectionState();
  const head = useHead();
  const staleReason = quote == null ? undefined : staleQuoteReason({ quotedAt: quote.beaconHeight, connection, head });
  const isSettled = typed.kind === 'amount' && !isOutdated && !latest.isLoading;
  const outcome =
    quote == null ? whyNoQuote(latest.errors) : sentenceOfQuote(quote, paid, received, staleReason !== undefined);
  const spoken = useSpoken(
    isSettled ? outcome : '',
    JSON.stringify([isSettled, committed, quote == null ? outcome : staleReason !== undefined]),
  );

  const field = (kind: SwapState['exact'], label: string, token: MarketToken) => {
    const isComputed = shown.exact !== kind;
    // The amount of an earlier quote beside a new one would be a wrong price.
    const isPending = isComputed && typed.kind === 'amount' && (isOutdated || latest.isLoading);
    const amount = isPending ? undefined : kind === 'pay' ? quote?.sellAmount : quote?.buyAmount;
    // Without separators: where somebody deletes a digit of 1,976, the comma would become that of the decimals.
    const computed = amount === undefined ? '' : formatExactAmount(amount, token.decimals).replaceAll(',', '');
    return (
      <AmountField
        label={label}
        token={token}
        value={isComputed ? computed : shown.amount}
        isComputed={isComputed}
        isPending={isPending}
        problem={!isComputed && typed.kind === 'invalid' ? typed.problem : undefined}
        onType={(text) => form.type(kind, text)}
      />
    );
  };

  return (
    <Panel
      title="Swap"
      query={typed.kind === 'amount' ? latest.query : undefined}
      freshness={<Freshness height={quote?.beaconHeight} />}
      isBusy={isOutdated}
    >
      <div ref={element} className={styles.content}>
        {field('pay', 'You pay', paid)}
        <Button
          className={styles.switch}
          aria-label={`Swap in the other direction: pay ${nameOfToken(received)}, receive ${nameOfToken(paid)}`}
          onClick={() =>
            form.change({
              side: shown.side === 'buy' ? 'sell' : 'buy',
              exact: shown.exact === 'pay' ? 'receive' : 'pay',
            })
          }
        >
          ↑↓
        </Button>
        {field('receive', 'You receive', received)}
        {isV3 && <PathChoice value={shown.path} onChange={(path) => form.change({ path })} />}
        <Slippage value={shown.slippagePercent} onChange={(slippagePercent) => form.change({ slippagePercent })} />
        {quote == null ? (
          <NoQuote typed={typed} latest={latest} isOutdated={isOutdated} />
        ) : (
          <QuoteView
            market={market}
            quote={quote}
            pays={paid}
            receives={received}
            isBuying={shown.side === 'buy'}
            isOutdated={isOutdated}
            staleReason={staleReason}
          />
        )}
        {isV3 && quote != null && quote.route.length > 1 && !isOutdated && (
          <CheaperPool market={market} state={committed} quote={quote} pause={!isWatched} />
        )}
        <p role="status" className="visually-hidden">
          {spoken}
        </p>
        <p className={styles.small}>
          {isV3
            ? 'This form only calculates: it sends nothing to the chain. The fee is the least that the exchange accepts, and is paid in addition: that of each pool on the route. Who pays more is first in a block.'
            : "This form only calculates: it sends nothing to the chain. The exchange's trading fee is not part of the quote. A trader bids it separately, and pays it in addition."}
        </p>
      </div>
    </Panel>
  );
}

/**
 * What a screen reader reads out: the text of now, each time that the occasion is another one. A new block alone is none: a quote
 * changes with most of them.
 */
function useSpoken(text: string, occasion: string): string {
  const [spoken, setSpoken] = useState({ text, occasion });
  if (spoken.occasion !== occasion) setSpoken({ text, occasion });
  return spoken.text;
}

function whyNoQuote([error]: readonly GatewayError[]): string {
  if (error === undefined) return 'No route for this amount.';
  const { title, text } = explainError(error);
  return `No quote. ${title}. ${text}`;
}

/** Follows the quote of the swap in the URL. */
function useQuote(market: Market, state: SwapState, pause: boolean): Latest<SwapQuoteSubscription> {
  const [paid, received] = tokensOf(market, state.side);
  const amount = readAmount(state.amount, amountToken(state.exact === 'pay' ? paid : received));
  const units = amount.kind === 'amount' ? amount.units : null;
  return useLatest(
    SwapQuoteDocument,
    {
      sellTokenId: paid.tokenId,
      buyTokenId: received.tokenId,
      sellAmount: state.exact === 'pay' ? units : null,
      buyAmount: state.exact === 'receive' ? units : null,
      slippagePercent: state.slippagePercent,
      ...pathVariables(market, state.path),
    },
    { pause: pause || units === null },
  );
}

type CheaperPoolProps = {
  readonly market: Market;
  readonly state: SwapState;
  /** Through several pools. */
  readonly quote: Quote;
  readonly pause: boolean;
};

/** Says if one pool is cheaper than the route: the gateway finds the route without the fees, which add up. */
function CheaperPool({ market, state, quote, pause }: CheaperPoolProps) {
  const { data, errors, isOutdated } = useQuote(market, { ...state, path: '1' }, pause);
  const single = isOutdated || errors.length > 0 ? undefined : data?.quote;
  const [wasBetter, setWasBetter] = useState(false);
  const isBetter = single != null && isCheaper(single, quote, wasBetter);
  if (isBetter !== wasBetter) setWasBetter(isBetter);
  return isBetter && <p className={styles.note}>With the fees, “Best single pool” is cheaper than this route.</p>;
}

/** Nothing in V1, where the gateway takes its usual number of pools. */
function pathVariables({ pool }: Market, path: SwapPath): { readonly maxHops?: number; readonly route?: string[] } {
  if (pool?.poolId == null) return {};
  return path === 'pool' ? { route: [pool.poolId] } : { maxHops: Number(path) };
}

/** What is paid, and what is received. */
function tokensOf({ base, target }: Market, side: SwapState['side']): readonly [MarketToken, MarketToken] {
  return side === 'buy' ? [target, base] : [base, target];
}

function amountToken(token: MarketToken) {
  return { name: nameOfToken(token), decimals: token.decimals };
}

type NoQuoteProps = {
  readonly typed: TypedAmount;
  readonly latest: Latest<SwapQuoteSubscription>;
  readonly isOutdated: boolean;
};

/** Says why there is no quote. */
function NoQuote({ typed, latest, isOutdated }: NoQuoteProps): ReactNode {
  if (typed.kind === 'empty')
    return <p className={styles.small}>Enter one of the two amounts to see what the other one would be.</p>;
  if (typed.kind === 'invalid') return null;
  const refusal = latest.errors.filter(({ code }) => code === 'TRADE_REFUSED');
  if (refusal.length > 0 && !isOutdated) return <ErrorState errors={refusal} />;
  if (isOutdated || (latest.isLoading && latest.errors.length === 0)) return <Skeleton lines={6} />;
  if (latest.errors.length > 0) return <ErrorState errors={latest.errors} />;
  return (
    <EmptyState title="There is no route for this amount">
      <p>The amount is too small or too large for the pools, or no pools lead from one token to the other.</p>
    </EmptyState>
  );
}

type PathChoiceProps = { readonly value: SwapPath; readonly onChange: (path: SwapPath) => void };

/** Chooses through how many pools a trade may lead. */
function PathChoice({ value, onChange }: PathChoiceProps) {
  const id = useId();
  return (
    <div className={styles.options}>
      <label htmlFor={id}>Route</label>
      <select
        id={id}
        className={styles.select}
        value={value}
        onChange={({ target }) => onChange(SWAP_PATHS.find((path) => path === target.value) ?? value)}
      >
        {SWAP_PATHS.map((path) => (
          <option key={path} value={path}>
            {path === 'pool' ? 'This pool alone' : path === '1' ? 'Best single pool' : `Best of up to ${path} pools`}
          </option>
        ))}
      </select>
    </div>
  );
}

type SlippageProps = { readonly value: number; readonly onChange: (percent: number) => void };

function Slippage({ value, onChange }: SlippageProps) {
  const id = useId();
  return (
    <div>
      <div className={styles.options}>
        <label htmlFor={id}>Slippage that you accept</label>
        <select
          id={id}
          className={styles.select}
          aria-describedby={`${id}-meaning`}
          value={value}
          onChange={({ target }) => onChange(Number(target.value))}
        >
          {SLIPPAGES.map((percent) => (
            <option key={percent} value={percent}>
              {`${percent}%`}
            </option>
          ))}
        </select>
      </div>
      <p id={`${id}-meaning`} className={styles.small}>
        How much worse than quoted the trade may be, because other trades can come first.
      </p>
    </div>
  );
}
