/** The serial line of a node, by ipmitool's serial over LAN to ipmi_sim, whose line is a telnet server of this test. */
import { on, once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createDrivers } from '../../src/bmc';
import { programMissing } from '../../src/bmc/ipmi/program';
import { ipmiMissing, ipmiPrograms, startSim } from '../support/ipmi';
import { hasty, nodeWith, quiet } from './support/context';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Telnet's own messages are of three bytes. */
const withoutTelnet = (bytes: Buffer): string => {
  const text: number[] = [];
  for (let at = 0; at < bytes.length; at++)
    if (bytes[at] === 0xff) at += 2;
    else text.push(bytes[at]!);
  return Buffer.from(text).toString('latin1');
};

/** Resolves once the text that has arrived holds `wanted`. */
const arriving = (source: NodeJS.ReadableStream, read: (bytes: Buffer) => string) => {
  let text = '';
  const waiting = new Set<() => void>();
  source.on('data', (bytes: Buffer) => {
    text += read(bytes);
    for (const look of waiting) look();
  });
  return (wanted: string) =>
    new Promise<void>((done) => {
      const look = () => {
        if (text.includes(wanted)) done();
      };
      waiting.add(look);
      look();
    });
};

/** The BMC connects when a session begins. */
const startTty = async () => {
  const server = createServer();
  const lines = on(server, 'connection');
  const sockets: Socket[] = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  const next = async (): Promise<Socket> => {
    const { value } = (await lines.next()) as { value: [Socket] };
    sockets.push(value[0].on('error', () => undefined));
    return value[0];
  };
  return { port: (server.address() as AddressInfo).port, next };
};

const suite = ipmiMissing === undefined ? describe : describe.skip;

suite(`a serial line${ipmiMissing ? ` (${ipmiMissing})` : ''}`, () => {
  test('carries both ways, and is given back at the BMC, so that it opens again', async () => {
    const tty = await startTty();
    const sim = await startSim({ serialPort: tty.port });
    open.push(sim);
    const drivers = createDrivers({
      log: quiet,
      networks: ['127.0.0.0/8'],
      limits: hasty,
      ipmitool: ipmiPrograms().ipmitool,
    });
    open.push(drivers);
    const node = nodeWith('ipmi', { ...sim.driver_info, ipmi_port: sim.ownPort });
    const openLine = async () => {
      const reader = await drivers.get('ipmi').openSerialLine!(node);
      const shown = arriving(reader.output, (bytes) => bytes.toString('latin1'));
      return { reader, shown };
    };
    const first = await openLine();
    const line = await tty.next();
    const typed = arriving(line, withoutTelnet);
    await first.shown('SOL Session operational');
    // The byte in it would be the program's escape.
    first.reader.write(Buffer.from('typed\r\x1e.all\r'));
    await typed('typed\r.all\r');
    line.write('said first');
    await first.shown('said first');
    await first.reader.close();

    // Of what is typed in a second session the simulator takes a part for a repetition of the first, so it is only read.
    const second = await openLine();
    await second.shown('SOL Session operational');
    line.write('said second');
    await second.shown('said second');
    await second.reader.close();
  }, 120_000);
});

test('a worker without script says what to install, which is not ipmitool', () => {
  expect(() => programMissing('script', new Error('ENOENT'))).toThrow('apt-get install bsdutils)');
});
