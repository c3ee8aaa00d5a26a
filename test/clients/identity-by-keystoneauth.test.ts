/** The demo identity service, as the OpenStack clients' own login library sees it. */
import { join } from 'node:path';
import { startDemoIdentity } from '../../emulator/identity/index';
import { clientsMissing } from '../support/clients';
import { suiteOf } from '../support/found';
import { judge } from '../support/python';

const whenThere = suiteOf('keystoneauth', clientsMissing());

whenThere('keystoneauth signs in at the demo identity service', () => {
  test('with password, system scope and application credential, and is refused where it should be', async () => {
    const identity = await startDemoIdentity({ host: '127.0.0.1', port: 0, catalogUrl: 'http://127.0.0.1:6385' });
    try {
      const { passed, failed, output } = await judge(join(__dirname, 'identity_walk.py'), [identity.url]);
      expect({ failed, output: failed === 0 ? '' : output }).toEqual({ failed: 0, output: '' });
      expect(passed).toBeGreaterThan(20);
    } finally {
      await identity.close();
    }
  });
});
