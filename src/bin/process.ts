/** What every process does alike: health and readiness, signals, and a clean end. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../observe/log';
import type { Metrics } from '../observe/metrics';

export type Life = {
  /** Aborts when the process should end. */
  readonly signal: AbortSignal;
  /** Registers what is to be closed, last first. */
  onEnd(close: () => Promise<void> | void): void;
  /** From now on /readyz says yes while `check` resolves. */
  ready(check?: () => Promise<void>): void;
};

type Settings = { TEMPER_HEALTH_PORT?: number; TEMPER_HEALTH_HOST: string; TEMPER_SUPERVISED?: '1' };

// A close that hangs must not keep a process that was told to end.
const endWithinMs = 65_000;

/** Runs a process to its end: SIGTERM, SIGINT or the loss of its supervisor. Exits with 1 when `body` throws. */
export const live = (
  settings: Settings,
  { log, metrics }: { log: Logger; metrics: Metrics },
  body: (life: Life) => Promise<void>,
): void => {
  const ending = new AbortController();
  const closers: (() => Promise<void> | void)[] = [];
  let check: (() => Promise<void>) | null = null;
  let status = 0;

  const end = async (why: string, code = 0): Promise<void> => {
    if (ending.signal.aborted) return;
    status = code;
    check = null;
    log.info('ending', { why });
    ending.abort();
    setTimeout(() => process.exit(1), endWithinMs).unref();
    for (const close of closers.reverse())
      await Promise.resolve(close()).catch((error) => log.warn('close failed', { error }));
    process.exit(status);
  };

  process.on('SIGTERM', () => void end('SIGTERM'));
  process.on('SIGINT', () => void end('SIGINT'));
  if (settings.TEMPER_SUPERVISED) process.on('disconnect', () => void end('supervisor gone'));
  process.on('unhandledRejection', (error) => log.error('unhandled rejection', { error }));

  if (settings.TEMPER_HEALTH_PORT !== undefined) {
    const server = healthServer(() => check, metrics);
    server.listen(settings.TEMPER_HEALTH_PORT, settings.TEMPER_HEALTH_HOST, () =>
      log.info('health', { port: (server.address() as AddressInfo).port }),
    );
    closers.push(() => void server.close());
  }

  body({
    signal: ending.signal,
    onEnd: (close) => void closers.push(close),
    ready: (now = async () => {}) => {
      check = now;
      log.info('ready');
    },
  }).catch((error) => {
    log.error('failed', { error });
    void end('failure', 1);
  });
};

const healthServer = (check: () => (() => Promise<void>) | null, metrics: Metrics): Server =>
  createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
    switch (request.url) {
      case '/healthz':
        return answer(200, { alive: true });
      case '/metrics':
        return response
          .writeHead(200, { 'content-type': metrics.registry.contentType })
          .end(await metrics.registry.metrics());
      case '/readyz': {
        const now = check();
        if (!now) return answer(503, { ready: false, reason: 'starting or ending' });
        return now().then(
          () => answer(200, { ready: true }),
          (error) => answer(503, { ready: false, reason: String(error?.message ?? error) }),
        );
      }
      default:
        return answer(404, { paths: ['/healthz', '/readyz', '/metrics'] });
    }
  });
