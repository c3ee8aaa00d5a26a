/** Structured logs: one JSON object per line, no secrets. */
import { writeSync } from 'node:fs';
import pino from 'pino';
import { maskSecrets, maskText } from '../model/access/secrets';
import { isTemperError } from '../model/errors';
import { fileReason } from '../model/file-faults';

export type Logger = {
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
  debug(message: string, facts?: object): void;
};

/** Masks secrets. */
const safe = (facts: object = {}): object =>
  maskSecrets(
    Object.fromEntries(
      Object.entries(facts).map(([key, value]) => [key, value instanceof Error ? errorFields(value) : value]),
    ),
  ) as object;

const errorFields = (error: Error): object => ({
  code: isTemperError(error) ? error.code : error.name,
  message: maskText(error.message),
  stack: maskText(error.stack ?? ''),
  ...(error.cause instanceof Error && { cause: errorFields(error.cause) }),
});

/** Buffer for unwritten lines, in bytes; later lines are lost. */
const keptBytes = 1 << 20;

/** Survives a full disk. The fault is reported once on standard error, and the lines follow when there is space. */
export const lastingOutput = (process_name: string, fd = 1): pino.DestinationStream => {
  const to = pino.destination({ dest: fd, sync: true, maxLength: keptBytes });
  let away = false;
  to.on('error', (error: NodeJS.ErrnoException) => {
    // The reader is gone, and pino ends such a stream.
    if (away || error.code === 'EPIPE') return;
    away = true;
    to.once('write', () => {
      away = false;
    });
    saidAside(
      `temper ${process_name}: the log cannot be written${fileReason(error)}. What it would say is kept for a while.`,
    );
  });
  return to;
};

/** Standard error may be on the same full disk. */
const saidAside = (line: string): void => {
  try {
    writeSync(2, `${line}\n`);
  } catch {}
};

/**
 * @param process_name such as `api`, `worker-bmc`
 * @param level pino's names
 * @param to destination; default standard output
 */
export const createLog = (process_name: string, level: string, to?: pino.DestinationStream): Logger => {
  const log = pino(
    {
      level,
      base: { process: process_name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'message',
    },
    to ?? lastingOutput(process_name),
  );
  return {
    info: (message, facts) => log.info(safe(facts), message),
    warn: (message, facts) => log.warn(safe(facts), message),
    error: (message, facts) => log.error(safe(facts), message),
    debug: (message, facts) => log.debug(safe(facts), message),
  };
};
