/** Serial consoles: an HTTP upgrade with a ticket, then bytes in both directions. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { openSecrets, type SecretDeps } from '../../activities/secrets';
import type { BmcNode, Driver, SerialLine } from '../../bmc/contract';
import type { Inventory } from '../../inventory';
import type { Redeemed } from '../../inventory/nodes/console-tickets';
import { hashOf } from '../../inventory/secrets/boot-tokens';
import { resolveSecrets } from '../../model/access/secrets';
import { isTemperError, raise } from '../../model/errors';
import type { Log } from '../../model/log';
import { guardedServer, type ServerTimeouts, timeoutsWith } from '../guarded-server';
import { listen } from '../listen';
import type { Life } from '../process';
import type { BmcConfig } from '../settings/config';

export type SerialConsoleDeps = Pick<SecretDeps, 'vault'> & {
  readonly inventory: Inventory;
  readonly driverOf: (name: string) => Driver | undefined;
  readonly conductor_group: string;
  readonly timeouts: ServerTimeouts;
  readonly log: Log;
  /** Check interval of the reader's right. */
  readonly askEveryMs?: number;
};

type Open = Extract<Redeemed, { is: 'open' }>;

/** A slower reader is disconnected. */
const mostBehind = 256 * 1024;
/** After these missed checks of its worker, a session no longer blocks others. */
const silentRounds = 12;

/** Time to flush and close. Otherwise a socket could stay open forever. */
const leaveMs = 2_000;

const protocol = 'temper-console';

const finish = (socket: Socket, last: string): void => {
  if (socket.destroyed) return;
  socket.end(last);
  const late = setTimeout(() => socket.destroy(), leaveMs);
  socket.once('close', () => clearTimeout(late));
};

const refuseUpgrade = (socket: Socket, status: string, reason: string): void => {
  const body = `${JSON.stringify({ error: reason })}\n`;
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  finish(socket, `${head}Connection: close\r\n\r\n${body}`);
};

const ticketIn = ({ headers }: IncomingMessage): string | undefined =>
  headers.upgrade === protocol ? /^Bearer (\S{20,200})$/.exec(headers.authorization ?? '')?.[1] : undefined;

/** Throws catalogued errors. */
const serialLineOf = async ({ node_uuid }: Open, deps: SerialConsoleDeps): Promise<SerialLine> => {
  const node = (await deps.inventory.nodes.find({ uuid: node_uuid })) ?? raise('NodeNotFound', { node: node_uuid });
  const open =
    deps.driverOf(node.driver)?.openSerialLine ?? raise('DriverUnsupported', { driver: node.driver, what: 'consoles' });
  const values = await openSecrets(node, undefined, deps);
  const driver_info = resolveSecrets(node.driver_info, values) as BmcNode['driver_info'];
  return open({ ...node, driver_info });
};

/**
 * Copies bytes until a side closes or the reader loses the right.
 * @returns the reason
 */
const carry = (
  socket: Socket,
  line: SerialLine,
  head: Buffer,
  until: (end: (why: string) => void) => void,
): Promise<string> =>
  new Promise((end) => {
    until(end);
    line.ended.then(
      () => end('the BMC has ended it'),
      () => end('it could not be opened'),
    );
    const left = () => end('its reader has left');
    socket.on('close', left).on('end', left);
    // The socket may have closed before these listeners, while the line was opened.
    if (socket.destroyed || socket.readableEnded) left();
    const type = (bytes: Buffer) => {
      if (line.write(bytes)) return;
      socket.pause();
      line.drained(() => socket.resume());
    };
    if (head.length > 0) type(head);
    socket.on('data', type);
    line.output.on('data', (bytes: Buffer) => {
      // Writing after the end would lose the last message.
      if (!socket.writable) return;
      socket.write(bytes);
      if (socket.writableLength > mostBehind) end('its reader is too slow');
    });
  });

export const createSerialConsole = (deps: SerialConsoleDeps): { server: Server; close(): Promise<void> } => {
  const { inventory, log, askEveryMs = 5_000 } = deps;
  const readings = new Map<Promise<void>, (why: string) => void>();
  let closing = false;

  const record = (opened: Open, action: string, data: Readonly<Record<string, string>>) =>
    inventory.audit.write({
      requester: opened.requester,
      action,
      rule: null,
      rule_set: null,
      resource: 'node',
      resource_id: opened.node_uuid,
      data,
    });

  const watch = (opened: Open, end: (why: string) => void): NodeJS.Timeout =>
    setInterval(() => {
      inventory.consoleTickets.holds(opened.id).then(
        (holds) => holds || end('it may no longer be read'),
        () => end('PostgreSQL does not answer'),
      );
    }, askEveryMs);

  const read = async (opened: Open, socket: Socket, head: Buffer, ending: Promise<string>): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    let line: SerialLine | undefined;
    let why = 'it could not be opened';
    try {
      line = await serialLineOf(opened, deps);
      await record(opened, 'node.console_open', {});
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${protocol}\r\nConnection: Upgrade\r\n\r\n`);
      why = await carry(socket, line, head, (end) => {
        timer = watch(opened, end);
        void ending.then(end);
      });
      finish(socket, `\r\n[the console has ended: ${why}]\r\n`);
    } catch (thrown) {
      log.warn('serial line not opened', { node_uuid: opened.node_uuid, reason: String(thrown) });
      const text = isTemperError(thrown) ? thrown.message : 'The serial line could not be opened.';
      refuseUpgrade(socket, '502 Bad Gateway', text);
    } finally {
      clearInterval(timer);
      await line?.close();
      await inventory.consoleTickets.close(opened.id);
      await record(opened, 'node.console_close', { reason: why });
    }
  };

  const upgrade = async (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> => {
    const ticket = ticketIn(request);
    if (ticket === undefined)
      return refuseUpgrade(socket, '400 Bad Request', `This needs Upgrade: ${protocol} and a ticket.`);
    if (closing) return refuseUpgrade(socket, '503 Service Unavailable', 'This worker is ending.');
    const hash = hashOf(ticket);
    const redeemed = await inventory.consoleTickets.redeem(hash, deps.conductor_group, silentRounds * askEveryMs);
    if (redeemed.is === 'unknown')
      return refuseUpgrade(socket, '403 Forbidden', 'This ticket is not valid (any more).');
    if (redeemed.is === 'busy') return refuseUpgrade(socket, '409 Conflict', 'The console of this node is being read.');
    let stop: (why: string) => void = () => undefined;
    const ending = new Promise<string>((done) => {
      stop = done;
    });
    const reading = read(redeemed, socket, head, ending).catch((error) =>
      log.warn('serial line', { node_uuid: redeemed.node_uuid, error }),
    );
    readings.set(reading, stop);
    if (closing) stop('this worker is ending');
    await reading;
    readings.delete(reading);
  };

  const server = guardedServer(deps.timeouts, (_, response) => {
    response.writeHead(426, { upgrade: protocol, 'content-type': 'application/json' }).end('{"error":"upgrade"}\n');
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => undefined);
    socket.setNoDelay(true);
    upgrade(request, socket, head).catch((error) => {
      log.warn('serial console', { error });
      refuseUpgrade(socket, '500 Internal Server Error', 'The console could not be opened.');
    });
  });
  return {
    server,
    async close() {
      closing = true;
      const ended = new Promise<void>((done) => server.close(() => done()));
      for (const stop of readings.values()) stop('this worker is ending');
      await Promise.all(readings.keys());
      server.closeAllConnections();
      await ended;
    },
  };
};

/** Closes with the process. Throws ConfigFault. */
export const listenForReaders = async (
  config: BmcConfig,
  deps: Omit<SerialConsoleDeps, 'conductor_group' | 'timeouts'>,
  life: Life,
): Promise<void> => {
  if (config.TEMPER_SERIAL_CONSOLE_PUBLIC_URL === undefined) return;
  const timeouts = timeoutsWith(config, config.TEMPER_HEADERS_TIMEOUT_MS);
  const console = createSerialConsole({ ...deps, conductor_group: config.TEMPER_CONDUCTOR_GROUP, timeouts });
  life.onEnd(console.close);
  const at = { host: config.TEMPER_SERIAL_CONSOLE_HOST, port: config.TEMPER_SERIAL_CONSOLE_PORT };
  const names = { hostSetting: 'TEMPER_SERIAL_CONSOLE_HOST', portSetting: 'TEMPER_SERIAL_CONSOLE_PORT' };
  await listen(console.server, { ...at, ...names }, (error) => deps.log.warn('console socket', { error }));
};
