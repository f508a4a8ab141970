/** What every part logs to; pino's shape. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  debug(fields: object, message: string): void
}
