import { useMemo } from 'react';
import { useLastingKeys } from '../../app/service-status.ts';
import { useGateway } from '../../client/gateway.tsx';
import { type Answer, useHead, usePageQuery } from '../../client/hooks.ts';
import { errorsAt } from '../../parts/answered.tsx';
import { explainError } from '../../parts/error-text.ts';
import { BlockTimesDocument, type BlockTimesQuery } from './block-times.generated.ts';

/** A block of the beacon chain. */
export type Block = NonNullable<NonNullable<BlockTimesQuery['history']>['blocks']>[number];

/** The newest blocks, as far as they are known. */
type Blocks = {
  readonly byHeight: ReadonlyMap<number, Block>;
  readonly answer: Answer<BlockTimesQuery>;
  /** Whether the gateway records them. If not, only those are known that it has pushed to this page. */
  readonly isRecorded: boolean;
  /** Why blocks that are recorded can be missing, in a sentence; undefined if they have been read. */
  readonly failure: string | undefined;
};

/** The largest page that the gateway allows by default. An operator can allow smaller ones only. */
export const MOST_BLOCKS = 500;

/** The blocks of the history, and those that the page has seen. Number of blocks: at most `MOST_BLOCKS`. */
export function useBlocks(last: number, { pause = false }: { readonly pause?: boolean } = {}): Blocks {
  const { tracker } = useGateway().session;
  const head = useHead();
  const isRecorded = !useLastingKeys().includes('history');
  const answer = usePageQuery(
    BlockTimesDocument,
    useMemo(() => ({ size: last }), [last]),
    { refresh: 'each-height', pause: pause || !isRecorded },
  );
  const recorded = answer.data?.history?.blocks;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tracker has seen another head
  const byHeight = useMemo(
    () => new Map([...tracker.seen(), ...(recorded ?? [])].map((block) => [block.beaconHeight, block])),
    [tracker, recorded, head],
  );
  const [error] = errorsAt(answer.errors, ['history']);
  const failure = isRecorded && error ? `The history could not be read. ${explainError(error).text}` : undefined;
  return { byHeight, answer, isRecorded, failure };
}

/** How long after the block below it a block was produced, in milliseconds; `undefined` if one of them is not known. */
export function intervalOf(height: number, blocks: ReadonlyMap<number, Block>): number | undefined {
  const [block, before] = [blocks.get(height), blocks.get(height - 1)];
  return block && before && Math.max(0, Date.parse(block.time) - Date.parse(before.time));
}

/** The path of the page of a block. */
export function blockPath(height: number): string {
  return `/chain/blocks/${height}`;
}
