/** Structured logs: one JSON object a line, the wire's field names, never a secret. */
import pino from 'pino';
import { maskSecrets, maskText } from '../model/access/secrets';
import { isTemperError } from '../model/errors';

export type Logger = {
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
  debug(message: string, facts?: object): void;
};

/** Facts as they may be written: secrets masked, errors as code and text. */
const safe = (facts: object = {}): object =>
  maskSecrets(
    Object.fromEntries(
      Object.entries(facts).map(([key, value]) => [key, value instanceof Error ? told(value) : value]),
    ),
  ) as object;

const told = (error: Error): object => ({
  code: isTemperError(error) ? error.code : error.name,
  message: maskText(error.message),
  stack: maskText(error.stack ?? ''),
  ...(error.cause instanceof Error && { cause: told(error.cause) }),
});

/**
 * @param process_name such as `api`, `worker-bmc`; @param level pino's names
 * @param to where lines go; default standard output
 */
export const createLog = (process_name: string, level: string, to?: pino.DestinationStream): Logger => {
  const log = pino(
    {
      level,
      base: { process: process_name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'message',
    },
    to ?? pino.destination({ sync: true }),
  );
  return {
    info: (message, facts) => log.info(safe(facts), message),
    warn: (message, facts) => log.warn(safe(facts), message),
    error: (message, facts) => log.error(safe(facts), message),
    debug: (message, facts) => log.debug(safe(facts), message),
  };
};
