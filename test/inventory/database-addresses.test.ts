/** Addresses of databases as operators write them. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { openSource } from '../../src/import';
import { connect } from '../../src/inventory/database';
import { suiteOf } from '../support/found';

const loopback = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

suiteOf('a database at an IPv6 address', loopback ? undefined : 'this machine has no IPv6')(
  'a database at an IPv6 address',
  () => {
    test.each([
      ['Temper’s', (port: number) => connect(`postgresql://a:b@[::1]:${port}/temper`, { max: 1 })`select 1`],
      ['Ironic’s PostgreSQL', (port: number) => openSource(`postgresql+psycopg2://a:b@[::1]:${port}/ironic`)],
      ['Ironic’s MariaDB', (port: number) => openSource(`mysql+pymysql://a:b@[::1]:${port}/ironic`)],
    ])('%s is connected to', async (_whose, open) => {
      const server = createServer((socket) => socket.destroy()).listen(0, '::1');
      await once(server, 'listening');
      const connected = once(server, 'connection');
      const opened = Promise.resolve(open((server.address() as { port: number }).port)).then(() => 'opened', String);
      expect(await Promise.race([connected.then(() => 'connected'), opened])).toBe('connected');
      server.close();
      await opened;
    });
  },
);
