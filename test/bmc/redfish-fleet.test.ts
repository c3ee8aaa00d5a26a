/** One worker and more BMCs than fit into a rack: what it keeps of each between two looks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { type Rack, startRack } from '../../emulator/rack';
import { createDrivers } from '../../src/bmc';
import { contextWith, intentsOf, nodeWith, quiet } from './support/context';

// More than a thousand, which is what sessions were kept of once.
const bmcs = 1_100;

const stateDir = mkdtempSync(join(tmpdir(), 'temper-fleet-'));
let rack: Rack;
beforeAll(async () => {
  rack = await startRack({ stateDir, bmcs, forgetful: true, profiles: ['openbmc'] });
});
afterAll(async () => {
  await rack.close();
  rmSync(stateDir, { recursive: true, force: true });
});

test('a BMC’s session is used at the next look too', async () => {
  const drivers = createDrivers({ log: quiet, networks: ['127.0.0.0/8'] });
  const inTurn = pLimit(50);
  const lookAtAll = () =>
    Promise.all(
      rack.bmcs.map((bmc) =>
        inTurn(() => {
          const node = nodeWith('redfish', {
            redfish_address: bmc.address,
            redfish_system_id: bmc.systemId,
            redfish_username: bmc.username,
            redfish_password: bmc.password,
          });
          return drivers.get('redfish').acts.verify!(node, { only: 'power' }, contextWith(intentsOf('verify')));
        }),
      ),
    );
  await lookAtAll();
  await lookAtAll();
  const logins = rack.bmcs.map(({ index }) => rack.state(index).requests.POST);
  expect(new Set(logins)).toEqual(new Set([1]));
  await drivers.close();
});
