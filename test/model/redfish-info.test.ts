/** Single values of a redfish node's driver_info. */
import { systemIdFault, trustOf } from '../../src/model/access/redfish-info';

test.each([undefined, null, '', '/redfish/v1/Systems/1', '/Systems/a.b_c-d%20e', '/'])(
  '%j may name a system',
  (value) => {
    expect(systemIdFault(value)).toBeUndefined();
  },
);

test.each([
  'http://10.9.9.9/redfish/v1/Systems/1',
  '//10.9.9.9/x',
  '/\\10.9.9.9/x',
  'Systems/1',
  '/a?b',
  '/a#b',
  '/a b',
  '/a\n',
  7,
])('%j does not', (value) => {
  expect(systemIdFault(value)).toContain('must be a path at the BMC');
});

test.each([
  [undefined, true],
  ['', true],
  [true, true],
  ['True', true],
  ['1', true],
  [false, false],
  ['no', false],
  ['OFF', false],
  ['/etc/ca.pem', { path: '/etc/ca.pem' }],
  ['falsehood', { path: 'falsehood' }],
])('redfish_verify_ca %j is trust in %j', (value, trust) => {
  expect(trustOf(value)).toEqual(trust);
});
