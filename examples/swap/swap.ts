import { setTimeout as wait } from 'node:timers/promises';

const [sell = 'PRV', buy = 'BTC', amount = '100', url = 'http://127.0.0.1:4000/graphql'] = process.argv.slice(2);

type Token = { readonly tokenId: string; readonly symbol: string | null; readonly decimals: number | null };
type ListedToken = Token & { readonly poolCount: number };
type NamedToken = Token & { readonly symbol: string; readonly decimals: number };
type Step = { readonly buyToken: Pick<Token, 'symbol' | 'tokenId'> };
type Quote = {
  readonly beaconHeight: number;
  readonly buyAmount: string;
  readonly minimumReceived: string;
  readonly price: string;
  readonly priceImpactPercent: number;
  readonly route: readonly Step[];
};
type Result<Data> = { readonly data?: Data | null; readonly errors?: readonly { readonly message: string }[] };

const SWAP = `subscription Swap($sell: TokenId!, $buy: TokenId!, $amount: BigInt!) {
  quote(sellTokenId: $sell, buyTokenId: $buy, sellAmount: $amount) {
    beaconHeight buyAmount minimumReceived(slippagePercent: 0.5) price priceImpactPercent
    route { buyToken { symbol tokenId } }
  }
}`;

const NO_ENDPOINT = `${url} is no endpoint of a gateway. An example is http://127.0.0.1:4000/graphql`;

function post(query: string, variables: object, accept: string): Promise<Response> {
  if (!/^https?:\/\/./.test(url)) throw new Error(NO_ENDPOINT);
  const headers = { 'content-type': 'application/json', accept };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
}

/** @throws Error with the reason that a gateway gives for a response without data, and as its cause how many seconds to wait */
async function readData<Data>(response: Response): Promise<Data> {
  const { data, errors } = (await response.json().catch(() => ({}))) as Result<Data>;
  if (!data) throw new Error(errors?.[0]?.message ?? NO_ENDPOINT, { cause: response.headers.get('retry-after') });
  return data;
}

/** Finds a token by its symbol or id. Several tokens can share a symbol, and the chain does not know decimals. */
async function findToken(name: string): Promise<NamedToken> {
  const response = await post('{ tokens { tokenId symbol decimals poolCount } }', {}, 'application/json');
  const { tokens } = await readData<{ tokens: readonly ListedToken[] }>(response);
  const known = tokens.filter(({ decimals }) => decimals !== null);
  const named = known.filter(({ tokenId, symbol }) => tokenId === name || symbol === name);
  const [token] = named;
  if (token === undefined) throw new Error(`No token has the symbol or id ${name}.`);
  if (named.length === 1) return { ...token, symbol: token.symbol ?? name.slice(0, 8) } as NamedToken;
  const ids = named.toSorted((a, b) => b.poolCount - a.poolCount);
  const lines = ids.map(({ tokenId, poolCount }) => `\n  ${tokenId} (pools: ${poolCount})`);
  throw new Error(`${named.length} tokens have the symbol ${name}. Use the id of one:${lines.join('')}`);
}

/** `1.5` of a token with 9 decimals is 1500000000 of its smallest units. JSON numbers would lose digits. */
function toUnits(text: string, decimals: number): string {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '' || fraction.length > decimals) throw new Error(`${text} is no amount with ${decimals} decimals.`);
  return String(BigInt(whole + fraction.padEnd(decimals, '0')));
}

function fromUnits(units: string, decimals: number): string {
  const digits = units.padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** The updates of a subscription over server-sent events, until the connection ends. */
async function* subscribe<Data>(query: string, variables: object): AsyncGenerator<Result<Data>> {
  const response = await post(query, variables, 'text/event-stream');
  // Before an operation starts, a gateway refuses it with JSON: for example, with status 429.
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) await readData(response);
  let text = '';
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (text + part).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^event: next\n(?:id: .*\n)?data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}

function show(quote: Quote | null, from: NamedToken, to: NamedToken): void {
  if (quote === null) {
    console.log(`There is no route from ${from.symbol} to ${to.symbol} for ${amount}.`);
    return;
  }
  const { beaconHeight, price, priceImpactPercent, route } = quote;
  const tokens = [from, ...route.map(({ buyToken }) => buyToken)];
  console.log(`Beacon height ${beaconHeight}
  ${amount} ${from.symbol} give ${fromUnits(quote.buyAmount, to.decimals)} ${to.symbol}
  at least ${fromUnits(quote.minimumReceived, to.decimals)} ${to.symbol} with 0.5 % slippage
  price ${price} ${from.symbol} per ${to.symbol}, price impact ${priceImpactPercent.toFixed(3)} %
  route ${tokens.map(({ symbol, tokenId }) => symbol ?? tokenId.slice(0, 8)).join(' > ')}`);
}

process.stdout.on('error', () => process.exit(0)); // The program that reads the output has ended.
let isConnected = false;
for (;;) {
  let seconds = 1;
  try {
    const [from, to] = [await findToken(sell), await findToken(buy)];
    const variables = { sell: from.tokenId, buy: to.tokenId, amount: toUnits(amount, from.decimals) };
    for await (const { data, errors } of subscribe<{ quote: Quote | null }>(SWAP, variables)) {
      if (data === undefined) throw new Error(errors?.[0]?.message);
      // An upstream fails: the subscription stays open, and continues when the upstream is back.
      if (errors) console.error(errors[0]?.message);
      else if (data) show(data.quote, from, to);
      isConnected = true;
    }
  } catch (problem) {
    const isNetwork = problem instanceof TypeError;
    console.error(isNetwork ? `No gateway responds at ${url}.` : (problem as Error).message);
    if (!isConnected) process.exit(1);
    seconds = Number((problem as Error).cause) || 1;
  }
  console.error('The connection is lost. Connecting again.');
  await wait(seconds * 1_000);
}
