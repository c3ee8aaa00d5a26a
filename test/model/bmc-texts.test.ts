/** What a caller who may not read a node's driver_info reads of its BMC: what happened, never where it is. */

import { withoutBmc } from '../../src/model/access/bmc-texts';
import { errors, say } from '../../src/model/errors';

const labels = [
  'https://bmc-7.example.org:8443',
  'https://192.0.2.7',
  'http://[2001:db8::7]:8000',
  'bmc-7.example.org:623',
  '192.0.2.7:623',
];
const hosts = /bmc-7\.example\.org|192\.0\.2\.7|2001:db8::7/;
const traces = /bmc-7|192\.0\.2|2001:db8|8443|8000|:623|redfish\/v1/;
const aboutBmcs = Object.keys(errors).filter((code) => errors[code as keyof typeof errors].says.includes('{bmc}'));
const reasons = [
  'connect ECONNREFUSED 192.0.2.7:8443',
  'getaddrinfo ENOTFOUND bmc-7.example.org',
  'GET /redfish/v1/Systems/1 was cut off',
  'connect EHOSTUNREACH 2001:db8::7:8000',
  'see https://bmc-7.example.org:8443/redfish/v1/TaskService',
];

test('there are texts about BMCs', () => expect(aboutBmcs.length).toBeGreaterThan(10));

test.each(aboutBmcs)('%s says what happened, and not where', (code) => {
  for (const bmc of labels)
    for (const reason of [...reasons, `${hosts.exec(bmc)![0]} closed the connection`]) {
      const facts = {
        node: 'n-1',
        bmc,
        reason,
        what: 'GET /redfish/v1/Systems',
        status: 500,
        id: '1',
        seen: 'off',
        found: 'a',
        wanted: 'b',
        failures: 3,
        seconds: 9,
        minutes: 4,
      };
      const text = withoutBmc(say(code as never, facts));
      expect(text).not.toMatch(traces);
      expect(text).toContain('The ');
      expect(text.length).toBeGreaterThan(20);
    }
});

test.each([
  'Image https://images.example.org/a.qcow2 has another checksum.',
  'Step bios.apply_configuration: setting Sriov is not known to this BIOS',
  'version 7.00.00.171 is older; at 12:30:45',
  'By request, the run was aborted.',
  'The BMC refused it.',
])('%s stays as it is', (text) => expect(withoutBmc(text)).toBe(text));

test.each(labels)('a lane that is held is said without %s', (bmc) =>
  expect(withoutBmc(say('BmcLeaseHeld', { bmc }))).toBe('The BMC is in use by another worker.'),
);

test('no text stays none', () => expect(withoutBmc(null)).toBeNull());

test.each([
  "Hostname/IP does not match certificate's altnames: IP: 192.0.2.7 is not in the cert's list: ",
  "Hostname/IP does not match certificate's altnames: Host: bmc-7.example.org. is not in the cert's altnames: DNS:bmc-7.example.org, IP Address:192.0.2.7",
  "Hostname/IP does not match certificate's altnames: Host: b. is not cert's CN: bmc-7.example.org",
])('the names of its certificate say where it is too: %s', (reason) => {
  const shown = withoutBmc(`The BMC of node n-1 at https://192.0.2.7 did not answer: ${reason}`);
  expect(shown).not.toMatch(traces);
  expect(shown).toContain('does not match');
});
