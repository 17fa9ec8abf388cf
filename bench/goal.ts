/** A bound that targets of a result have to meet, at each of their sizes. */
export type Goal = {
  /** One target, or several of which each has to meet it. */
  readonly target: string | readonly string[];
  /**
   * The peer with which it is compared in each round: by the ratio of their figures, or by their difference. If there are several,
   * the one that is best for the bound counts. Without one, the bound is on the figure itself.
   */
  readonly baseline?: { readonly target: string | readonly string[]; readonly by: 'ratio' | 'difference' } | undefined;
  readonly bound: 'at least' | 'at most';
  readonly value: number;
  /** The sizes for which it is a goal; all by default. */
  readonly sizes?: readonly number[] | undefined;
  /** Whether each sample has to meet it. By default, the median has to. */
  readonly isForAllSamples?: true;
};
