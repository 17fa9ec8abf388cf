import { GatewayError } from '../../src/errors.ts';

/** What a client is told of a failure: all of it, and nothing else. */
export type Failure = {
  readonly code: string;
  readonly retryable: boolean;
  readonly message: string;
  readonly extensions: Readonly<Record<string, unknown>>;
};

/** The failure that a promise ends in, or a text where it does not fail; any error that is not of ours is thrown on. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure | 'it did not fail'> {
  try {
    await promise;
    return 'it did not fail';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, retryable, message, extensions } = error;
    return { code, retryable, message, extensions };
  }
}
