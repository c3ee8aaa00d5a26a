/** Health, readiness, signals and shutdown of all processes. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../model/errors';
import { fileFault } from '../model/file-faults';
import type { Logger } from '../observe/log';
import type { Metrics } from '../observe/metrics';
import { guardedServer } from './guarded-server';
import { listen } from './listen';
import { ConfigFault, configStatus, printFaults } from './settings/fault';
import { together } from './together';

export type Life = {
  readonly signal: AbortSignal;
  /** Registers a close function; the last one runs first. */
  onEnd(close: () => Promise<void> | void): void;
  /** /readyz succeeds while `check` resolves. */
  ready(check?: () => Promise<void>): void;
};

type ProcessSettings = { TEMPER_HEALTH_PORT?: number; TEMPER_HEALTH_HOST: string; TEMPER_SUPERVISED?: '1' };

// A hanging close function must not block the end.
const endWithinMs = 65_000;

/**
 * Runs until SIGTERM, SIGINT or the loss of the supervisor. After a ConfigFault of `body` it prints the faults and
 * exits with status 78; after other errors it logs and exits with 1.
 */
export const live = (
  process_name: string,
  settings: ProcessSettings,
  { log, metrics }: { log: Logger; metrics: Metrics },
  body: (life: Life) => Promise<void>,
): void => {
  const ending = new AbortController();
  const closers: (() => Promise<void> | void)[] = [];
  let check: (() => Promise<void>) | null = null;

  const end = async (why: string, status = 0): Promise<void> => {
    if (ending.signal.aborted) return;
    check = null;
    if (status !== configStatus) log.info('ending', { why });
    ending.abort();
    setTimeout(() => process.exit(status || 1), endWithinMs).unref();
    for (const close of closers.reverse())
      await Promise.resolve(close()).catch((error) => log.warn('close failed', { error }));
    process.exit(status);
  };

  process.on('SIGTERM', () => void end('SIGTERM'));
  process.on('SIGINT', () => void end('SIGINT'));
  if (settings.TEMPER_SUPERVISED) process.on('disconnect', () => void end('supervisor gone'));
  process.on('unhandledRejection', (error) => log.error('unhandled rejection', { error }));

  const startHealth = async (port: number): Promise<void> => {
    const server = healthServer(() => check, metrics);
    closers.push(() => void server.close());
    const at = { host: settings.TEMPER_HEALTH_HOST, port };
    const names = { hostSetting: 'TEMPER_HEALTH_HOST', portSetting: 'TEMPER_HEALTH_PORT' };
    await listen(server, { ...at, ...names }, (error) => log.warn('health socket', { error }));
    log.info('health', { port: (server.address() as AddressInfo).port });
  };

  const run = async (): Promise<void> => {
    if (settings.TEMPER_HEALTH_PORT !== undefined) await startHealth(settings.TEMPER_HEALTH_PORT);
    await body({
      signal: ending.signal,
      onEnd: (close) => void closers.push(close),
      ready: (now = async () => {}) => {
        if (ending.signal.aborted) return;
        check = now;
        log.info('ready');
      },
    });
  };

  run().catch((error) => {
    const refused = fileFault(error);
    const fault = refused === undefined ? error : new ConfigFault([refused]);
    if (fault instanceof ConfigFault) {
      printFaults(process_name, fault);
      return end('settings', configStatus);
    }
    log.error('failed', { error });
    return end('failure', 1);
  });
};

const healthTimeouts = { headersMs: 20_000, requestMs: 20_000, keepAliveMs: 75_000, connections: 1_000, ofSender: 100 };

/** A loop of scrapes must not use all CPU time. */
const metricsKeptMs = 250;

export const healthServer = (check: () => (() => Promise<void>) | null, metrics: Metrics): Server => {
  const metricsText = together(() => metrics.registry.metrics(), metricsKeptMs);
  const checked = together(async () => check()?.(), 0);
  return guardedServer(healthTimeouts, (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
    switch (request.url) {
      case '/healthz':
        return answer(200, { alive: true });
      case '/metrics':
        return metricsText().then(
          (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
          (error) => answer(500, { reason: messageOf(error) }),
        );
      case '/readyz':
        if (!check()) return answer(503, { ready: false, reason: 'starting or ending' });
        return checked().then(
          () => answer(200, { ready: true }),
          (error) => answer(503, { ready: false, reason: String(error?.message ?? error) }),
        );
      default:
        return answer(404, { paths: ['/healthz', '/readyz', '/metrics'] });
    }
  });
};
