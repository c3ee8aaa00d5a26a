/** BMC addresses: how they are read, and which networks hold them. */
import { BlockList } from 'node:net';
import fc from 'fast-check';
import { cidrContains, isCidr, isIpAddress, parseBmcAddress, peerAddress } from '../../src/model/access/bmc-addresses';
import { isTemperError } from '../../src/model/errors';
import { originOf } from '../../src/model/resources/audit';
import { costOf } from '../support/processor-time';

const read = (redfish_address: unknown) => parseBmcAddress({ redfish_address });

test.each([
  ['bmc.example.org', { origin: 'https://bmc.example.org', host: 'bmc.example.org', port: 443, prefix: '' }],
  ['http://127.0.0.1:8000/bmc/3', { origin: 'http://127.0.0.1:8000', port: 8000, prefix: '/bmc/3' }],
  ['http://127.0.0.1:8000/bmc/3/redfish/v1/', { prefix: '/bmc/3', label: '127.0.0.1:8000/bmc/3' }],
  ['https://bmc.example.org/redfish/v1', { prefix: '' }],
  ['https://[2001:db8::1]:8443', { host: '2001:db8::1', port: 8443, origin: 'https://[2001:db8::1]:8443' }],
  ['bmc.example.org:8443', { host: 'bmc.example.org', port: 8443 }],
  ['HTTPS://BMC.Example.org/', { label: 'bmc.example.org' }],
  ['http://0x7f.1/', { host: '127.0.0.1' }],
])('%s is read', (text, wanted) => {
  expect(read(text)).toMatchObject(wanted);
});

test.each([
  [undefined],
  [''],
  [17],
  ['ftp://bmc.example.org'],
  ['https://'],
  ['https://user:word@bmc.example.org'],
  ['https://bmc.example.org/?a=b'],
  ['file:///etc/passwd'],
])('%p is refused as an address', (given) => {
  let thrown: unknown;
  try {
    read(given);
  } catch (error) {
    thrown = error;
  }
  expect(isTemperError(thrown, 'DriverInfoInvalid')).toBe(true);
  expect((thrown as Error).message).not.toContain('word@');
});

test('a driver without a BMC has no address', () => {
  expect(parseBmcAddress({}, { driver: 'fake-hardware' })).toBeUndefined();
});

test.each([
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['0.0.0.0/0', '203.0.113.9', true],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['192.0.2.128/25', '192.0.2.127', false],
  ['10.0.0.0/8', '::ffff:10.1.2.3', true],
  ['10.0.0.0/8', '::ffff:0a01:0203', true],
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
  ['2001:db8::/32', '2001:db8:1::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['::1', '0:0:0:0:0:0:0:1', true],
  ['::/0', '10.0.0.1', false],
  ['::/0', '::ffff:10.0.0.1', false],
  ['10.0.0.0/33', '10.0.0.0', false],
  ['10.0.0.0/8', 'bmc.example.org', false],
  ['10.0.0.0/8', '010.0.0.1', false],
  ['fe80::/10', 'fe80::1%eth0', false],
])('%s holds %s: %p', (cidr, address, holds) => {
  expect(cidrContains(cidr, address)).toBe(holds);
});

test.each([
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['::FFFF:192.0.2.7%eth0', '192.0.2.7'],
  ['192.0.2.7', '192.0.2.7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['2001:db8::ffff:1', '2001:db8::ffff:1'],
  ['', ''],
])('the end of a connection at %s is called %s, in the audit trail too', (address, plain) => {
  expect(peerAddress(address)).toBe(plain);
  expect(originOf(address, undefined)).toEqual(plain === '' ? {} : { address: plain });
});

test.each(['1', 'a', 'x', '1.', '1:', ':.'])('a long text of %s is no address, and costs next to nothing', (piece) => {
  const text = piece.repeat(60_000);
  const cost = costOf(() => {
    expect([isIpAddress(text), isCidr(text), cidrContains('192.0.2.0/24', text)]).toEqual([false, false, false]);
    expect(peerAddress(text)).toBe(text);
  });
  // 3 s and more where the expressions of the library read it.
  expect(cost).toBeLessThan(500);
});

test.each([
  ['redfish', 'redfish_address', `https://bmc.example.org${'/'.repeat(100_000)}x`],
  ['ipmi', 'ipmi_address', '1'.repeat(60_000)],
  ['ilo', 'ilo_address', 'a'.repeat(60_000)],
] as const)('a long address of driver %s is refused, and costs next to nothing', (driver, field, address) => {
  const cost = costOf(() => {
    expect(() => parseBmcAddress({ [field]: address }, { driver })).toThrow(
      expect.objectContaining({ code: 'DriverInfoInvalid' }),
    );
  });
  expect(cost).toBeLessThan(500);
});

test('a connection that is gone has no address', () => {
  expect(peerAddress(undefined)).toBe('');
});

// Spellings that other readers of addresses take for an address, and for different ones: none may open a network.
test.each([
  '010.0.0.1',
  '0x0a.0.0.1',
  '0xa000001',
  '167772161',
  '10.1',
  '10.0.1',
  '10.0.0.01',
  '10.0.0.1.',
  ' 10.0.0.1',
  '10.0.0.1 ',
  '10.0.0.1\n',
  '10.0.0.256',
  '+10.0.0.1',
  '[::1]',
  'fe80::1%eth0',
  'fe80::1%25eth0',
  '::ffff:10.0.0.01',
  '::ffff:010.0.0.1',
  '::ffff:10.1',
  '::10.0.0.1%1',
  '1::2::3',
  '1:2:3:4:5:6:7::8:9',
  '12345::1',
  ':1::2',
  '1::2:',
  ':::',
  '',
])('%p is no address, and no network holds it', (text) => {
  expect(isIpAddress(text)).toBe(false);
  for (const network of ['0.0.0.0/0', '::/0', '10.0.0.0/8']) expect(cidrContains(network, text)).toBe(false);
});

test.each([
  ['::ffff:0:0/96', '10.0.0.1', true],
  ['::ffff:10.0.0.0/95', '10.0.0.1', false],
  ['::ffff:0:0/95', '::ffff:10.0.0.1', false],
  ['::ffff:10.0.0.1', '10.0.0.1', true],
  ['10.0.0.1/0', '203.0.113.9', true],
  ['10.9.9.9/8', '10.0.0.1', true],
  ['2001:db8::ffff/32', '2001:db8::1', true],
  ['64:ff9b::10.0.0.1/96', '64:ff9b::a00:1', true],
  ['64:ff9b::/96', '10.0.0.1', false],
  ['2002:a00:1::/48', '10.0.0.1', false],
  ['::/0', '::1', true],
  ['::10.0.0.0/104', '10.0.0.1', false],
  [' 10.0.0.0/8 ', '10.0.0.1', true],
  ['10.0.0.0/08', '10.0.0.1', true],
  ['10.0.0.0/008', '10.0.0.1', true],
  ['10.0.0.0/0008', '10.0.0.1', false],
  ['10.0.0.0/255.0.0.0', '10.0.0.1', false],
  ['10.0.0.0/8/8', '10.0.0.1', false],
  ['010.0.0.0/8', '8.0.0.1', false],
  ['10/8', '10.0.0.1', false],
  ['fe80::%eth0/10', 'fe80::1', false],
  ['[::1]/128', '::1', false],
  ['::1/129', '::1', false],
])('%s holds %s: %p, however it is spelled', (cidr, address, holds) => {
  expect(cidrContains(cidr, address)).toBe(holds);
});

test.each(['10.0.0.0/8', '::/0', '192.0.2.1', '2001:db8::1/128'])('%s is a network', (text) => {
  expect(isCidr(text)).toBe(true);
});
test.each(['', '10.0.0/8', '10.0.0.0/', '10.0.0.0/-1', ':::/0', '1:2:3:4:5:6:7:8:9', '12345::', '::1::'])(
  '%p is not a network',
  (text) => {
    expect(isCidr(text)).toBe(false);
    expect(isIpAddress(text)).toBe(false);
  },
);

describe('as Node’s own arithmetic has it', () => {
  test.each([
    ['ipv4', fc.ipV4(), 32],
    ['ipv6', fc.ipV6(), 128],
  ] as const)('%s', (family, addresses, bits) => {
    // Mapped addresses are the other table's: Node takes them for IPv6 here.
    const plain = addresses.filter((address) => !/^[0:]*ffff:/i.test(address));
    fc.assert(
      fc.property(plain, plain, fc.integer({ min: 0, max: bits }), (network, address, length) => {
        const list = new BlockList();
        list.addSubnet(network, length, family);
        expect(cidrContains(`${network}/${length}`, address)).toBe(list.check(address, family));
        expect(cidrContains(`${network}/${length}`, network)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
