/** The emulated rack, walked by the library that Ironic itself uses for Redfish. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { profileNames, type Rack, startRack } from '../../emulator/rack';
import { clientsMissing } from '../support/clients';
import { suiteOf } from '../support/found';
import { judge } from '../support/python';

const program = join(__dirname, 'sushy_walk.py');
const whenThere = suiteOf('sushy', clientsMissing());
// Long enough that a client which polls is sure to see a power state in between, HTTPS handshakes included.
const timing = {
  powerOnMs: 2_000,
  powerOffMs: 2_000,
  gracefulOffMs: 2_000,
  postMs: 300,
  bmcResetMs: 800,
  volumeTaskMs: 500,
  firmwareTaskMs: 500,
};

/** Walks that go on at once: they wait for machines nearly all the time. */
const atOnce = 5;
/** The last BMC, of the first vendor again, is walked over HTTPS. */
const overHttps = profileNames.length;

whenThere('sushy walks the rack', () => {
  let rack: Rack;
  let stateDir: string;
  /** By BMC; each begins when the one five places before it has ended, however that ended. */
  const walks: ReturnType<typeof judge>[] = [];
  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'rack-'));
    rack = await startRack({ stateDir, bmcs: profileNames.length + 1, timing });
    for (const { index } of rack.bmcs) {
      walks[index] = Promise.resolve(walks[index - atOnce]).then(
        () => walk(index),
        () => walk(index),
      );
      walks[index].catch(() => {}); // its own test reports it
    }
  });
  afterAll(async () => {
    await rack?.close();
    await rm(stateDir, { recursive: true, force: true });
  });

  const walk = async (index: number) => {
    const { address, secureAddress, username, password } = rack.bmcs[index]!;
    const url = index === overHttps ? secureAddress : address;
    return judge(program, ['--user', username, '--password', password, url]);
  };

  test.each(profileNames.map((name, index) => [name, index] as const))(
    '%s, over HTTP',
    async (_, index) => {
      const { passed, failed, output } = await walks[index]!;
      expect({ failed, output: failed === 0 ? '' : output }).toEqual({ failed: 0, output: '' });
      expect(passed).toBeGreaterThan(50);
    },
    400_000,
  );

  test('one vendor, over HTTPS with its self-signed certificate', async () => {
    expect(rack.bmcs[overHttps]!.profile).toBe(profileNames[0]);
    const { passed, failed, output } = await walks[overHttps]!;
    expect({ failed, output: failed === 0 ? '' : output }).toEqual({ failed: 0, output: '' });
    expect(passed).toBeGreaterThan(50);
  }, 400_000);
});
