/** The driver contract against every vendor of the emulated rack. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { profileNames, type Rack, startRack } from '../../emulator/rack';
import { createDrivers } from '../../src/bmc';
import type { ActName } from '../../src/model/lifecycle/steps';
import { driverContract } from './contract';
import { hasty, nodeWith, quiet } from './support/context';
import { startRelay } from './support/relay';

const perProfile = 40;
const settings: Readonly<Record<string, { name: string; value: unknown }[]>> = {
  idrac9: [
    { name: 'MemTest', value: 'Enabled' },
    { name: 'AcPwrRcvryUserDelay', value: '90' },
  ],
  ilo5: [{ name: 'WorkloadProfile', value: 'LowLatency' }],
  ilo6: [{ name: 'WorkloadProfile', value: 'LowLatency' }],
  xcc: [{ name: 'SystemRecovery_POSTWatchdogTimerValue', value: 10 }],
  'xcc-new': [{ name: 'DevicesandIOPorts_SRIOV', value: 'Disable' }],
};
const generic = [
  { name: 'QuietBoot', value: 'false' },
  { name: 'SRIOV', value: 'Enabled' },
];

const lacks: Readonly<Record<string, Partial<Record<ActName, string>>>> = {
  ilo5: { set_boot_mode: 'its System shows no boot mode' },
};

let rack: Rack;
let stateDir: string;
const used = new Map<string, number>();

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'rack-'));
  rack = await startRack({
    stateDir,
    bmcs: profileNames.length * perProfile,
    timing: { powerOnMs: 60, powerOffMs: 40, gracefulOffMs: 60, postMs: 40, bmcResetMs: 300 },
  });
});

afterAll(async () => {
  await rack.close();
  await rm(stateDir, { recursive: true, force: true });
});

const setUp = (profile: string) => async () => {
  const count = used.get(profile) ?? 0;
  used.set(profile, count + 1);
  const bmc = rack.bmcs.filter((each) => each.profile === profile)[count]!;
  const proxy = await startRelay(bmc.address);
  const drivers = createDrivers({ log: quiet, networks: ['127.0.0.0/8'], limits: hasty });
  return {
    driver: drivers.get('redfish'),
    node: nodeWith('redfish', {
      redfish_address: proxy.url,
      redfish_username: bmc.username,
      redfish_password: bmc.password,
    }),
    proxy,
    settings: settings[profile] ?? generic,
    image: 'http://images.example.org/boot.iso',
    async close() {
      await drivers.close();
      await proxy.close();
    },
  };
};

for (const profile of profileNames)
  driverContract(`redfish on ${profile}`, setUp(profile), lacks[profile], ['send_raw'], { concurrently: true });

test('every session that the contract opened was given back', () => {
  const open = rack.bmcs.filter(({ index }) => rack.state(index).sessions.length > 0);
  expect(open.map(({ name }) => name)).toEqual([]);
});
