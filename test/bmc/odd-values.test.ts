/** Values of machines that throw when they are made a text are values like any other. */
import { createLogin } from '../../src/bmc/redfish/transport/login';
import { errorOf } from '../../src/bmc/redfish/transport/replies';
import type { RedfishSettings } from '../../src/bmc/redfish/transport/settings';
import { lastOf } from '../../src/bmc/redfish/transport/texts';
import type { Wire, WireRequest } from '../../src/bmc/redfish/transport/wire';
import { claimsOf } from '../../src/model/boot/discovery';
import { pinFault } from '../../src/model/boot/images';
import { costOf } from '../support/processor-time';

const odd = { toString: 1, valueOf: 1 };
const mac = '52:54:00:00:00:01';
const facts = { node: 'n', bmc: 'b', what: 'GET /' };

it.each([
  { code: odd, message: odd },
  { '@Message.ExtendedInfo': [{ MessageId: odd, Message: odd, Severity: odd, MessageSeverity: odd }] },
])('the error of a BMC that says %j is known by its status', (error) => {
  const reply = { status: 404, headers: {}, body: { error }, garbled: false };
  expect(errorOf(reply, facts, (text) => text)).toMatchObject({
    code: 'BmcRejected',
    facts: { reason: 'status 404 without explanation' },
  });
});

it('a machine whose boot interface is no text is recorded without it', () => {
  expect(claimsOf({ boot: { pxe_interface: odd } }, [mac])).toMatchObject({ macs: [mac], boot_mac: null });
});

it('a checksum that is no text is none of the image', () => {
  const image = { name: 'debian', sha256: 'a'.repeat(64) };
  expect(pinFault({ image_checksum: odd }, image)).toContain('image_checksum is not the SHA-256 digest');
});

it.each(['http://[', 7, odd])('a session at %j is one that cannot be named', async (location) => {
  const address = { origin: 'https://192.0.2.1', prefix: '', label: 'b' };
  const settings = { authType: 'session', username: 'u', password: 'p', address } as unknown as RedfishSettings;
  const answers = [
    { status: 200, headers: {}, body: { Links: { Sessions: { '@odata.id': '/S' } } }, garbled: false },
    { status: 201, headers: { 'x-auth-token': 't' }, body: { '@odata.id': location }, garbled: false },
  ];
  const wire = { send: async () => ({ reply: answers.shift() }), close: async () => {} } as unknown as Wire;
  const errors = { errorFor: fail, authFailed: fail };
  const login = createLogin(settings, wire, errors);
  const ask = { method: 'GET', path: '/', node: 'n', what: 'x' } as unknown as WireRequest;
  expect(await login(ask)).toEqual({ is: 'session', token: 't', uri: undefined });
});

const fail = (): never => {
  throw new Error('the login failed');
};

it('a BMC whose path is a hundred thousand slashes costs next to nothing', () => {
  const path = `/redfish/v1${'/'.repeat(100_000)}x`;
  expect(costOf(() => expect(lastOf(path)).toBe('x'))).toBeLessThan(500);
});
