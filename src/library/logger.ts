/**
 * Where the library logs. The loggers of pino, Fastify and bunyan are such, and so is `console`. The fields of a line come first,
 * then its message.
 */
export type Logger = {
  readonly trace?: LogMethod;
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
};

type LogMethod = (fields: object, message: string) => void;
