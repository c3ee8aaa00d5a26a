/** The `baremetal` command: a walk over all of its groups, by Keystone's tokens and by user name and password. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { until } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { endAll } from '../bin/support/entries';
import { bmcOf } from '../e2e/support/nodes';
import { secondApi } from '../e2e/support/persona-api';
import { type System, startSystem } from '../e2e/support/system';
import { clientsMissing } from '../support/clients';
import { suiteOf } from '../support/found';
import { lines, withoutSuccess } from './cli-groups-lines';
import { type Shell, startShell, walkLines } from './cli-groups-walk';

jest.setTimeout(400_000);

const whenThere = suiteOf('the baremetal command', clientsMissing());

whenThere('the baremetal command', () => {
  let system: System;
  let operator: Person;
  const shells: Shell[] = [];

  const walks: Record<string, ReturnType<typeof walkLines>> = {};

  beforeAll(async () => {
    system = await startSystem(3, { TEMPER_RACK_SPEED: '50' });
    operator = await system.person('operator');
    walks.Keystone = walk(shellOf(system.record().addresses.clouds, 'operator'), 'k-', 0);
    walks.http_basic = walk(shellOf(await basicClouds(), 'basic'), 'b-', 1);
    await Promise.allSettled(Object.values(walks));
  });
  afterAll(async () => {
    for (const shell of shells) shell.end();
    await endAll();
    await system?.stop();
  });

  const shellOf = (clouds: string, cloud: string): Shell => {
    const shell = startShell(clouds, cloud);
    shells.push(shell);
    return shell;
  };

  /** clouds.yaml, JSON being YAML, of a user who signs in by user name and password at an API of its own. */
  const basicClouds = async (): Promise<string> => {
    const [htpasswd, users, clouds] = ['cli-htpasswd', 'cli-users.yaml', 'cli-clouds.yaml'].map((name) =>
      join(dirname(system.data), name),
    ) as [string, string, string];
    const [username, password] = ['robot', randomBytes(9).toString('hex')];
    writeFileSync(htpasswd, `${username}:${hashSync(password, 4)}\n`, { mode: 0o600 });
    writeFileSync(users, JSON.stringify({ users: { [username]: { roles: ['admin'], system: 'all' } } }));
    const files = { TEMPER_HTPASSWD_FILE: htpasswd, TEMPER_USERS_FILE: users };
    const endpoint = await secondApi(system, { TEMPER_AUTH_STRATEGY: 'http_basic', ...files });
    const cloud = { auth_type: 'http_basic', auth: { endpoint, username, password } };
    writeFileSync(clouds, JSON.stringify({ clouds: { basic: cloud } }), { mode: 0o600 });
    return clouds;
  };

  const walk = async (shell: Shell, prefix: string, index: number) => {
    const bmc = await bmcOf(system, `bmc-${index}`);
    const file = join(dirname(system.data), `${prefix}resources.json`);
    writeFileSync(file, JSON.stringify({ nodes: [{ name: `${prefix}file`, driver: 'fake-hardware' }] }));
    return walkLines(shell, lines, {
      prefix,
      bmc,
      file,
      rests: (node, state) =>
        until(`${node} to be ${state}`, 120_000, async () => {
          const seen = await operator.must('GET', `/v1/nodes/${node}`);
          // A run that is held keeps its node.
          const busy = state.endsWith(' hold') ? null : (seen.reservation ?? seen.target_power_state);
          return (seen.provision_state === state && busy === null) || undefined;
        }).then(() => undefined),
    });
  };

  test.each(['Keystone', 'http_basic'])('every line of the walk does what the table says, by %s', async (way) => {
    const { differing, told } = await walks[way]!;
    process.stderr.write(`baremetal by ${way}: ${told}\n`);
    expect(differing).toEqual([]);
  });

  test('every command of the client is called with success, but for those listed with a reason', async () => {
    const { succeeded } = await walks.Keystone!;
    const { out } = await shells[0]!.run(['help']);
    const listed = out.slice(out.indexOf('Commands:')).matchAll(/^ {2}(\S+(?: \S+)*) {2,}/gm);
    const commands = [...listed].map(([, name]) => name!);
    expect(commands.length).toBeGreaterThan(100);
    const called = (command: string) => succeeded.some((line) => line === command || line.startsWith(`${command} `));
    expect(commands.filter((command) => !called(command)).sort()).toEqual(Object.keys(withoutSuccess).sort());
  });
});
