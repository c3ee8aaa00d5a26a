/** BMC addresses at the moment they are written. */
import { checkBmcAddress } from '../../src/api/v1/nodes/bmc-address';

const check = (
  redfish_address: string,
  found: readonly string[] | Error,
  driver: 'redfish' | 'fake-hardware' = 'redfish',
) =>
  checkBmcAddress(
    {
      bmcNetworks: ['192.0.2.0/24'],
      lookup: async () => (found instanceof Error ? Promise.reject(found) : [...found]),
    },
    driver,
    { redfish_address },
  );

test.each([
  ['https://192.0.2.9', []],
  ['bmc.example.org', ['192.0.2.9']],
])('%s may be recorded', async (address, found) => {
  await expect(check(address, found)).resolves.toBeUndefined();
});

test.each([
  ['https://203.0.113.9', []],
  ['https://[::1]', []],
  ['bmc.example.org', ['203.0.113.9']],
  ['bmc.example.org', ['192.0.2.9', '203.0.113.9']],
])('%s at %j lies outside the networks', async (address, found) => {
  await expect(check(address, found)).rejects.toMatchObject({ code: 'BmcAddressRefused' });
});

test.each([[[]], [new Error('no such name')]])('a name that does not resolve cannot be checked', async (found) => {
  await expect(check('bmc.example.org', found)).rejects.toMatchObject({ code: 'InvalidInput' });
});

test('a driver without a BMC is not checked', async () => {
  await expect(check('https://203.0.113.9', [], 'fake-hardware')).resolves.toBeUndefined();
});
