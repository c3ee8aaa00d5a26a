/** noauth is served to this machine only, unless the operator says otherwise. */

import { createLog } from '../../src/observe/log';
import { identityFrom } from '../../src/process/api/identity';
import { processes } from '../../src/process/settings/config';
import { parseSettings } from '../../src/process/settings/read';
import { good } from './support/entries';

const log = createLog('test', 'fatal');
const noauthAt = (host: string, more: NodeJS.ProcessEnv = {}) =>
  identityFrom(parseSettings(processes.api, { ...good.api, TEMPER_API_HOST: host, ...more }), log);

test.each(['127.0.0.1', '127.8.9.1', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', 'localhost'])(
  'noauth may listen on %s, which only this machine reaches',
  async (host) => {
    expect((await noauthAt(host)).strategies).toEqual(['noauth']);
  },
);

test.each([
  '127.example.org',
  '127.0.0.1.example.org',
  'localhost.example.org',
  '127.1',
  '0.0.0.0',
  '::',
  '::ffff:10.0.0.1',
])('noauth may not listen on %s unless it is allowed beyond loopback', async (host) => {
  await expect(noauthAt(host)).rejects.toMatchObject({ faults: [expect.stringContaining(host)] });
  expect((await noauthAt(host, { TEMPER_NOAUTH_BEYOND_LOOPBACK: 'true' })).strategies).toEqual(['noauth']);
});
