/** The header, name and value, of every response of a gateway that serves simulated data. */
export const SANDBOX_HEADER = ['x-pdex-sandbox', 'true'] as const;
