/** Commands on nodes, typed into the real `baremetal` client by operator, owner, lessee and stranger. */
import { until } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { type Cli, cliOf, refusal } from './support/cli';
import {
  acceptedSince,
  active,
  bmcOf,
  commandOf,
  journalNow,
  lease,
  manageable,
  projects,
  withinMs,
} from './support/nodes';
import { type System, startSystem } from './support/system';

let system: System;
let operator: Person;
let cli: Cli;

beforeAll(async () => {
  system = await startSystem(7);
  operator = await system.person('operator');
  cli = cliOf(system);
});
afterAll(() => system?.stop());

const shown = (node: string, ...fields: readonly string[]) =>
  cli.json('operator', 'node', 'show', node, '--fields', ...fields);

test('an operator enrols a BMC, verifies it, and never reads its password back', async () => {
  expect(await cli.json('operator', 'driver', 'list')).toEqual(
    ['fake-hardware', 'idrac', 'ilo', 'ilo5', 'ipmi', 'redfish'].map((name) => ({ name, hosts: 'worker-default' })),
  );
  expect(await cli.json('operator', 'conductor', 'list')).toEqual([
    { hostname: 'worker-default', conductor_group: '', alive: true },
  ]);
  const bmc = await bmcOf(system, 'bmc-0');
  const info = [
    `redfish_address=${bmc.address}`,
    `redfish_system_id=${bmc.systemId}`,
    `redfish_username=${bmc.username}`,
    `redfish_password=${bmc.password}`,
  ].flatMap((field) => ['--driver-info', field]);
  const created = await cli.json('operator', 'node', 'create', '--name', 'first', '--driver', 'redfish', ...info);
  expect(created).toMatchObject({ name: 'first', provision_state: 'enroll', owner: null });
  expect(created.driver_info).toMatchObject({ redfish_address: bmc.address, redfish_password: '******' });

  await cli.does('operator', 'node', 'manage', 'first', '--wait', '120');
  expect(await shown('first', 'provision_state', 'last_error', 'power_state')).toEqual({
    provision_state: 'manageable',
    last_error: null,
    power_state: expect.stringMatching(/^power (on|off)$/),
  });
  const port = await cli.json('operator', 'port', 'create', bmc.macs[0]!, '--node', created.uuid);
  expect(port).toMatchObject({ address: bmc.macs[0], node_uuid: created.uuid });
  expect(await cli.json('operator', 'port', 'list', '--node', 'first')).toEqual([
    { uuid: port.uuid, address: bmc.macs[0] },
  ]);
  expect(await cli.json('operator', 'node', 'list')).toEqual([
    expect.objectContaining({ uuid: created.uuid, name: 'first', provision_state: 'manageable', maintenance: false }),
  ]);
  await cli.does('operator', 'node', 'delete', 'first');
  expect(await cli('operator', 'node', 'show', 'first')).toEqual(refusal(404, 'Node first could not be found'));
});

test('an operator provides a node, cleans one with steps of its own, and both rest where they should', async () => {
  const [provided, cleaned] = (await manageable(system, operator, 1, 2)) as [string, string];
  const since = await journalNow(system, cleaned);
  const steps = [
    { interface: 'management', step: 'set_boot_device', args: { boot_device: 'pxe' } },
    { interface: 'power', step: 'power_on' },
  ];
  await Promise.all([
    cli.does('operator', 'node', 'provide', provided, '--wait', '120'),
    cli.does('operator', 'node', 'clean', cleaned, '--clean-steps', JSON.stringify(steps), '--wait', '120'),
  ]);
  expect(await shown(provided, 'provision_state')).toEqual({ provision_state: 'available' });
  expect(await shown(cleaned, 'provision_state', 'power_state', 'clean_step')).toEqual({
    provision_state: 'manageable',
    power_state: 'power on',
    clean_step: {},
  });
  const commands = (await acceptedSince(system, cleaned, since)).map(commandOf).join('\n');
  expect(commands).toMatch(/Pxe/);
  await cli.does('operator', 'node', 'manage', provided, '--wait', '120');
  const bad = JSON.stringify([{ interface: 'power', step: 'fly' }]);
  expect(await cli('operator', 'node', 'clean', cleaned, '--clean-steps', bad)).toEqual(
    refusal(400, 'has no step power.fly'),
  );
});

test('a node is given, leased, protected, and taken back', async () => {
  const [node] = (await active(system, operator, 3)) as [string];
  const { 'owner-project': owner, 'lessee-project': lessee } = projects;
  await cli.does('operator', 'node', 'set', node, '--owner', owner);
  await cli.does('operator', 'node', 'set', node, '--lessee', lessee);
  await cli.does('operator', 'node', 'set', node, '--protected');
  expect(await shown(node, 'owner', 'lessee', 'protected')).toEqual({ owner, lessee, protected: true });
  const fields = ['--fields', 'name', 'lessee'];
  for (const cloud of ['owner', 'lessee'])
    expect(await cli.json(cloud, 'node', 'list', ...fields)).toEqual([{ name: node, lessee }]);
  expect(await cli.json('operator', 'node', 'list', '--owner', owner, ...fields)).toEqual([{ name: node, lessee }]);
  expect(await cli.json('stranger', 'node', 'list', ...fields)).toEqual([]);

  expect(await cli('operator', 'node', 'delete', node)).toEqual(refusal(403, `Node ${node} is protected`));
  await cli.does('operator', 'node', 'unset', node, '--protected');
  await cli.does('operator', 'node', 'unset', node, '--owner', '--lessee');
  expect(await shown(node, 'owner', 'lessee', 'protected')).toEqual({ owner: null, lessee: null, protected: false });
  expect(await cli.json('lessee', 'node', 'list')).toEqual([]);
});

test('a node in use is adopted, powered by its lessee, and looked after by its owner', async () => {
  const [node] = (await manageable(system, operator, 4)) as [string];
  await lease(operator, node, { owner: projects['owner-project'], lessee: projects['lessee-project'] });
  await cli.does('operator', 'node', 'adopt', node, '--wait', '120');
  expect(await shown(node, 'provision_state')).toEqual({ provision_state: 'active' });
  // The command returns when the request is accepted; its --power-timeout is for the node.
  const powered = (state: string) =>
    until(`${node} to be ${state}`, withinMs, async () => {
      const { power_state, target_power_state } = await shown(node, 'power_state', 'target_power_state');
      return (power_state === state && target_power_state === null) || undefined;
    });
  await cli.does('lessee', 'node', 'power', 'on', node, '--power-timeout', '120');
  await powered('power on');
  const since = await journalNow(system, node);
  await cli.does('lessee', 'node', 'power', 'off', node, '--power-timeout', '120');
  await powered('power off');
  expect((await acceptedSince(system, node, since)).map(commandOf)).toEqual([
    expect.stringContaining('"ResetType":"ForceOff"'),
  ]);

  await cli.does('owner', 'node', 'maintenance', 'set', node, '--reason', 'a broken fan');
  expect(await shown(node, 'maintenance', 'maintenance_reason')).toEqual({
    maintenance: true,
    maintenance_reason: 'a broken fan',
  });
  expect(await cli('lessee', 'node', 'maintenance', 'unset', node)).toEqual(refusal(403, 'node:clear_maintenance'));
  await cli.does('owner', 'node', 'maintenance', 'unset', node);
  expect(await shown(node, 'maintenance')).toEqual({ maintenance: false });
  const validated = await cli.json('owner', 'node', 'validate', node);
  const result = Object.fromEntries(
    validated.map(({ Interface, Result }: { Interface: string; Result: boolean | null }) => [Interface, Result]),
  );
  expect(result).toMatchObject({ power: true, management: true, bios: true, deploy: false, raid: true });
});

test('a trait is put on a node, listed and taken off by its owner’s manager', async () => {
  const [node] = (await manageable(system, operator, 5)) as [string];
  await lease(operator, node, { owner: projects['owner-project'] });
  await cli.does('owner-manager', 'node', 'trait', 'add', node, 'CUSTOM_A', 'CUSTOM_B');
  expect(await cli.json('owner', 'node', 'trait', 'list', node)).toEqual([
    { traits: 'CUSTOM_A' },
    { traits: 'CUSTOM_B' },
  ]);
  await cli.does('owner-manager', 'node', 'trait', 'remove', node, 'CUSTOM_A');
  expect(await cli.json('owner', 'node', 'trait', 'list', node)).toEqual([{ traits: 'CUSTOM_B' }]);
});

test('to a stranger, an admin elsewhere, another’s node is not there, whatever it tries', async () => {
  const [node] = (await active(system, operator, 6)) as [string];
  await lease(operator, node, { owner: projects['owner-project'], lessee: projects['lessee-project'] });
  const tries = [
    ['node', 'show', node],
    ['node', 'set', node, '--owner', projects['stranger-project']],
    ['node', 'power', 'off', node],
    ['node', 'maintenance', 'set', node],
    ['node', 'validate', node],
    ['node', 'trait', 'list', node],
    ['node', 'clean', node, '--clean-steps', '[{"interface":"power","step":"reboot"}]'],
  ];
  const answers = await Promise.all(tries.map((args) => cli('stranger', ...args)));
  expect(answers).toEqual(tries.map(() => refusal(404, `Node ${node} could not be found`)));
  expect(await cli.json('stranger', 'port', 'list')).toEqual([]);
});
