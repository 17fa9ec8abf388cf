import type { Head } from '../live/chain/head.ts';
import { createHeadStream } from './head-streams.ts';
import type { Loaders } from './loaders.ts';
import { type QuoteArguments, requireArgumentsFor } from './quote.ts';
import type { SourceStream } from './source-stream.ts';

/** The heads at which a quote is computed: the current one first. @throws BadUserInputError for arguments that only V3 has, in V1 */
export async function createQuoteStream(
  args: QuoteArguments,
  loaders: Pick<Loaders, 'sources'>,
): Promise<SourceStream<Head, Head>> {
  requireArgumentsFor(loaders.sources.head.current()?.exchange, args);
  return createHeadStream(loaders);
}
