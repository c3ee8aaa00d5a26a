/** BMC addresses: how they are read, and which networks hold them. */
import { cidrContains, isCidr, isIpAddress, parseBmcAddress } from '../../src/model/access/bmc-addresses';
import { isTemperError } from '../../src/model/errors';

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
