/** `temper boot dnsmasq`: what is handed to the folder's maker, and what is refused before. */
import { temper } from './support/command';

const given = ['boot', 'dnsmasq', '--interface', 'br0', '--url', 'http://192.0.2.1:6386'];
const prepareDhcp = jest.fn(async () => '/srv/dhcp/dnsmasq.conf');
beforeEach(() => prepareDhcp.mockClear());

test('the folder is made of what is given, and the command says how dnsmasq is started', async () => {
  const { status, out } = await temper([...given, '--range', '192.0.2.9,192.0.2.99', '--secure-boot'], { prepareDhcp });
  expect(status).toBe(0);
  expect(out).toContain('dnsmasq --keep-in-foreground --conf-file=/srv/dhcp/dnsmasq.conf');
  expect(prepareDhcp).toHaveBeenCalledWith({
    interface: 'br0',
    url: 'http://192.0.2.1:6386',
    range: ['192.0.2.9', '192.0.2.99'],
    netmask: '255.255.255.0',
    lease: '1h',
    secureBoot: true,
  });
});

test('another DHCP server gives out the addresses', async () => {
  const line = [...given, '--proxy', '192.0.2.0', '--loaders', '/srv/unpacked'];
  expect((await temper(line, { prepareDhcp })).status).toBe(0);
  expect(prepareDhcp).toHaveBeenCalledWith(
    expect.objectContaining({ proxy: '192.0.2.0', secureBoot: false, loaders: '/srv/unpacked' }),
  );
});

test.each([
  [
    ['--range', '192.0.2.9,192.0.2.99', '--discovery', '192.0.2.200,192.0.2.220'],
    ['192.0.2.200', '192.0.2.220'],
  ],
  [['--proxy', '192.0.2.0', '--discovery'], true],
])('%j: machines without a node are answered, too', async (more, discovery) => {
  expect((await temper([...given, ...more], { prepareDhcp })).status).toBe(0);
  expect(prepareDhcp).toHaveBeenCalledWith(expect.objectContaining({ discovery }));
});

test.each([[[...given, '--range', '192.0.2.9']], [[...given, '--range', 'a,b,c']], [given.slice(0, 4)]])(
  '%j is wrong usage',
  async (line) => {
    expect((await temper(line, { prepareDhcp })).status).toBe(2);
    expect(prepareDhcp).not.toHaveBeenCalled();
  },
);
