/** The header, name and value, of every answer of a gateway that serves simulated data. */
export const SANDBOX_HEADER = ['x-pdex-sandbox', 'true'] as const;
