/** What stored credentials are bound to, and which changes of it send them elsewhere. */
import { bmcSideOf, movedField } from '../../src/model/access/bmc-sides';

type Info = Readonly<Record<string, unknown>>;
const moved = (driver: string, before: Info, after: Info, to = driver) =>
  movedField(bmcSideOf({ driver, driver_info: before }), bmcSideOf({ driver: to, driver_info: after }));

const redfish = { redfish_address: 'https://192.0.2.7/bmc' };
const ilo = { ilo_address: '192.0.2.7' };
const ipmi = { ipmi_address: '192.0.2.7' };

test.each([
  ['redfish', redfish, { redfish_address: 'HTTPS://192.0.2.7:443/bmc/redfish/v1/' }],
  ['redfish', redfish, { ...redfish, redfish_username: 'root', redfish_system_id: '/redfish/v1/Systems/2' }],
  ['redfish', { ...redfish, redfish_verify_ca: false }, { ...redfish, redfish_verify_ca: true }],
  ['ilo', { ...ilo, ilo_verify_ca: 'no' }, { ...ilo, ilo_verify_ca: '/etc/ca.pem' }],
  ['ipmi', { ...ipmi, ipmi_protocol_version: '1.5' }, ipmi],
  ['ipmi', ipmi, { ...ipmi, ipmi_port: 623, ipmi_cipher_suite: 17 }],
  ['fake-hardware', {}, { fake_delay_ms: 1 }],
])('%s: %j to %j stays with the BMC', (driver, before, after) => {
  expect(moved(driver, before, after)).toBeUndefined();
});

test.each([
  ['redfish', redfish, { redfish_address: 'https://192.0.2.8/bmc' }, 'redfish_address'],
  ['redfish', redfish, { redfish_address: 'https://192.0.2.7/other' }, 'redfish_address'],
  ['redfish', redfish, {}, 'redfish_address'],
  ['redfish', {}, redfish, 'redfish_address'],
  ['redfish', redfish, { ...redfish, redfish_verify_ca: false }, 'redfish_verify_ca'],
  ['redfish', redfish, { ...redfish, redfish_verify_ca: '/tmp/ca.pem' }, 'redfish_verify_ca'],
  ['ilo', ilo, { ilo_address: '192.0.2.8' }, 'ilo_address'],
  ['ilo', ilo, { ...ilo, ilo_verify_ca: false }, 'ilo_verify_ca'],
  ['ipmi', ipmi, { ...ipmi, ipmi_port: 624 }, 'ipmi_address'],
  ['ipmi', ipmi, { ...ipmi, ipmi_protocol_version: '1.5' }, 'ipmi_protocol_version'],
  [
    'ipmi',
    ipmi,
    { ...ipmi, ipmi_bridging: 'single', ipmi_target_channel: '1', ipmi_target_address: '0x72' },
    'ipmi_bridging',
  ],
])('%s: %j to %j is a move by %s', (driver, before, after, field) => {
  expect(moved(driver, before, after)).toBe(field);
});

test('another driver is a move, whatever its address', () => {
  expect(moved('redfish', redfish, redfish, 'fake-hardware')).toBe('driver');
  expect(moved('redfish', redfish, { ...redfish, ...ilo }, 'ilo')).toBe('driver');
});
