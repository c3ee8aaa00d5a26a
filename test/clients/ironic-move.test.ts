/** docs/from-ironic.md, typed: a rack moves from a real Ironic's database to a running system, which then drives its nodes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { cliOf, runClient, type Said } from '../e2e/support/cli';
import { bmcOf } from '../e2e/support/nodes';
import { environmentsOf } from '../e2e/support/persona-api';
import { type System, startSystem } from '../e2e/support/system';
import { clientCommand, clientsMissing } from '../support/clients';
import { blocksOf, readDocument } from '../support/documents';
import { suiteOf } from '../support/found';
import { emptyPostgres, ironicMissing, startIronic } from '../support/ironic';

const missing = clientsMissing() ?? ironicMissing;
const wait = ['--wait', '240'];
const image = {
  image_source: 'http://images.example.org/debian-13.raw',
  image_os_hash_algo: 'sha256',
  image_os_hash_value: 'a'.repeat(64),
};

suiteOf('a rack that moves from Ironic', missing)('a rack that moves from Ironic', () => {
  let database: Awaited<ReturnType<typeof emptyPostgres>>;
  let ironic: Awaited<ReturnType<typeof startIronic>>;
  let system: System;
  let typed: Said;

  const enrolInIronic = async (): Promise<void> => {
    const nodes = await Promise.all(
      [0, 1].map(async (index) => {
        const bmc = await bmcOf(system, `bmc-${index}`);
        return {
          number: 300 + index,
          name: `rack7-0${index + 1}`,
          state: index === 0 ? 'manageable' : 'active',
          driver_info: {
            redfish_address: bmc.address,
            redfish_system_id: bmc.systemId,
            redfish_username: bmc.username,
            redfish_password: bmc.password,
            deploy_iso: 'http://images.example.org/ramdisk.iso',
          },
          instance_info: index === 0 ? {} : image,
          address: bmc.macs[0],
        };
      }),
    );
    await ironic.change(`enrol ${JSON.stringify(nodes)}`);
  };

  /**
   * Types what the page has in its shell blocks, with this Ironic's address. Maintenance is set by Ironic's own objects as the nodes
   * are enrolled: this Ironic has no conductor, which the command would ask.
   */
  const typePage = async (): Promise<Said> => {
    const clouds = join(system.data, 'moving.yaml');
    const known = parse(readFileSync(system.record().addresses.clouds, 'utf8')).clouds;
    writeFileSync(clouds, JSON.stringify({ clouds: { temper: known.operator } }));
    const { TEMPER_DATABASE_URL, TEMPER_SECRETS_PUBLIC_KEYS } = environmentsOf(system).api;
    const page = blocksOf(readDocument('docs/from-ironic.md'), 'sh').join('\n');
    const script = [
      'set -e',
      `export OS_CLIENT_CONFIG_FILE='${clouds}'`,
      `export TEMPER_DATABASE_URL='${TEMPER_DATABASE_URL}' TEMPER_SECRETS_PUBLIC_KEYS='${TEMPER_SECRETS_PUBLIC_KEYS}'`,
      `PATH='${dirname(clientCommand('baremetal'))}':"$PATH"`,
      `temper() { '${process.execPath}' '${system.program('temper')}' "$@"; }`,
      page
        // Of the whole database some nodes are refused, which is its status.
        .replace(/^temper import$/m, 'if temper import; then exit 9; else [ $? = 1 ]; fi')
        .replace(/^baremetal --os-cloud ironic node maintenance set .*$/gm, '')
        .replace(/^export TEMPER_IMPORT_URL=.*$/m, `export TEMPER_IMPORT_URL='${database.ironicUrl}'`),
    ];
    return runClient(system, 'bash', ['-c', script.join('\n')]);
  };

  beforeAll(async () => {
    database = await emptyPostgres();
    [ironic, system] = await Promise.all([startIronic(database), startSystem(2, { TEMPER_RACK_SPEED: '5' })]);
    await enrolInIronic();
    typed = await typePage();
  });
  afterAll(async () => {
    await ironic?.stop();
    await database?.drop();
    await system?.stop();
  });

  test('every command of the page is done, and says what would be taken and what was', () => {
    expect({ status: typed.status, err: typed.err }).toEqual({ status: 0, err: '' });
    expect(typed.out).toMatch(/refused: node moving .*: it is moving \(cleaning\)/);
    expect(typed.out).toMatch(/refused: node rest-1 .*: it is not in maintenance in Ironic/);
    expect(typed.out).toContain('not taken: 1 inspection rule in the whole database');
    expect(typed.out.match(/Nothing was stored\. Give --apply to take it\./g)).toHaveLength(2);
    expect(typed.out).toMatch(/\nnode +2 +0 +0 +0 +0\n(?:.*\n)*Taken\.\n/);
  });

  test('both services list the same nodes', async () => {
    const listed = async (...auth: string[]) => {
      const { out } = await runClient(system, clientCommand('baremetal'), [
        ...[...auth, '--os-baremetal-api-version', '1.95'],
        ...['node', 'list', '--long', '-f', 'json'],
      ]);
      const nodes: Record<string, unknown>[] = JSON.parse(out);
      return nodes
        .filter(({ Name, name }) => String(Name ?? name).startsWith('rack7-'))
        .map((node) =>
          Object.fromEntries(
            Object.entries(node).filter(
              ([field]) => !/maintenance|updated|conductor|internal|power state|power_state|reservation/i.test(field),
            ),
          ),
        );
    };
    const inTemper = await listed('--os-cloud', 'operator');
    expect(inTemper).toHaveLength(2);
    const times = (nodes: object[]) =>
      JSON.parse(JSON.stringify(nodes).replace(/(\d\d\.\d{3})\d{3}\+00:00|\.0+\+00:00/g, '$1+00:00'));
    expect(times(inTemper)).toEqual(times(await listed('--os-auth-type', 'none', '--os-endpoint', ironic.url)));
  });

  test('what was manageable is cleaned and deployed, what was active is undeployed, on the rack', async () => {
    const cli = cliOf(system);
    const stateOf = async (node: string) =>
      cli.json('operator', 'node', 'show', node, '--fields', 'provision_state', 'last_error');
    const steps = '[{"interface": "deploy", "step": "erase_devices_metadata"}]';
    await cli.does('operator', 'node', 'clean', 'rack7-01', '--clean-steps', steps, ...wait);
    expect(await stateOf('rack7-01')).toEqual({ provision_state: 'manageable', last_error: null });
    await cli.does('operator', 'node', 'provide', 'rack7-01', ...wait);
    const info = Object.entries(image).flatMap(([key, value]) => ['--instance-info', `${key}=${value}`]);
    await cli.does('operator', 'node', 'set', 'rack7-01', ...info);
    await cli.does('operator', 'node', 'deploy', 'rack7-01', ...wait);
    expect(await stateOf('rack7-01')).toEqual({ provision_state: 'active', last_error: null });
    await cli.does('operator', 'node', 'undeploy', 'rack7-02', ...wait);
    expect(await stateOf('rack7-02')).toEqual({ provision_state: 'available', last_error: null });
  });
});
