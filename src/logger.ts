import { pino, type DestinationStream, type Logger } from 'pino';

/** Structured logger: JSON lines on stdout, secrets redacted. Never give it bodies, parameters or names. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: ['authorization', 'cookie', '*.authorization', '*.cookie', 'req.headers', 'body'],
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
