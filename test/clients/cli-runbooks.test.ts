/** Commands on runbooks, typed into the real `baremetal` client: written, approved, published, run, refused. */
import { powerOn } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { type Cli, cliOf, refusal } from '../e2e/support/cli';
import {
  acceptedSince,
  active,
  commandOf,
  journalNow,
  lease,
  manageable,
  projects,
  withinMs,
} from '../e2e/support/nodes';
import { type System, startSystem } from '../e2e/support/system';

let system: System;
let operator: Person;
let cli: Cli;

beforeAll(async () => {
  system = await startSystem(3);
  operator = await system.person('operator');
  cli = cliOf(system);
});
afterAll(() => system?.stop());

const bootFromDisk = [
  { interface: 'management', step: 'set_boot_device', args: { boot_device: 'disk' }, order: 1 },
  { interface: 'power', step: 'reboot', args: {}, order: 2 },
];
const light = [{ interface: 'management', step: 'set_indicator', args: { state: 'blinking' }, order: 1 }];

const create = (cloud: string, name: string, steps: object, ...more: readonly string[]) =>
  cli.json(cloud, 'runbook', 'create', '--name', name, '--steps', JSON.stringify(steps), ...more);

test('an owner’s manager writes a runbook, changes it, and deletes it; a member may not', async () => {
  const owner = projects['owner-project'];
  expect(await create('owner-manager', 'CUSTOM_OWN', bootFromDisk, '--description', 'one', '--extra', 'a=b')).toEqual(
    expect.objectContaining({
      ...{ name: 'CUSTOM_OWN', owner, public: false, traits: [], disable_ramdisk: false },
      ...{ description: 'one', extra: { a: 'b' }, steps: bootFromDisk },
    }),
  );
  const steps = JSON.stringify(light);
  expect(await cli('owner', 'runbook', 'create', '--name', 'CUSTOM_NOT', '--steps', steps)).toEqual(
    refusal(403, 'baremetal:runbook:create'),
  );
  expect(await cli('owner-manager', 'runbook', 'create', '--name', 'CUSTOM_BAD', '--steps', '[]')).toMatchObject({
    status: 1,
  });
  await cli.does('owner-manager', 'runbook', 'set', 'CUSTOM_OWN', '--steps', steps, '--description', 'other');
  await cli.does('owner-manager', 'runbook', 'unset', 'CUSTOM_OWN', '--extra', 'a');
  await cli.does('owner-manager', 'runbook', 'trait', 'add', 'CUSTOM_OWN', 'CUSTOM_OWN', 'CUSTOM_MORE');
  await cli.does('owner-manager', 'runbook', 'trait', 'remove', 'CUSTOM_OWN', 'CUSTOM_MORE');
  expect(await cli.json('owner', 'runbook', 'show', 'CUSTOM_OWN')).toMatchObject({
    ...{ description: 'other', extra: {}, traits: ['CUSTOM_OWN'] },
    steps: light,
  });
  expect(await cli.json('owner', 'runbook', 'trait', 'list', 'CUSTOM_OWN')).toEqual([{ traits: 'CUSTOM_OWN' }]);
  expect(await cli('owner-manager', 'runbook', 'set', 'CUSTOM_OWN', '--public')).toEqual(
    refusal(403, 'baremetal:runbook:update:public'),
  );
  for (const args of [
    ['show', 'CUSTOM_OWN'],
    ['delete', 'CUSTOM_OWN'],
  ])
    expect(await cli('stranger', 'runbook', ...args)).toEqual(refusal(404, 'Runbook CUSTOM_OWN could not be found'));
  await cli.does('owner-manager', 'runbook', 'delete', 'CUSTOM_OWN');
  expect(await cli('owner', 'runbook', 'show', 'CUSTOM_OWN')).toEqual(refusal(404, 'could not be found'));
});

test('an operator publishes a runbook and hands it to a project', async () => {
  const owner = projects['owner-project'];
  await create('operator', 'CUSTOM_HANDED', light);
  expect(await cli.json('lessee', 'runbook', 'list')).toEqual([]);
  await cli.does('operator', 'runbook', 'set', 'CUSTOM_HANDED', '--public');
  expect(await cli.json('lessee', 'runbook', 'list', '--long')).toEqual([
    expect.objectContaining({ name: 'CUSTOM_HANDED', public: true, owner: null, steps: light }),
  ]);
  await cli.does('operator', 'runbook', 'unset', 'CUSTOM_HANDED', '--public');
  await cli.does('operator', 'runbook', 'set', 'CUSTOM_HANDED', '--owner', owner);
  expect(await cli.json('lessee', 'runbook', 'list')).toEqual([]);
  expect(await cli.json('owner', 'runbook', 'show', 'CUSTOM_HANDED')).toMatchObject({ public: false, owner });
  await cli.does('operator', 'runbook', 'unset', 'CUSTOM_HANDED', '--owner');
  expect(await cli('owner', 'runbook', 'show', 'CUSTOM_HANDED')).toEqual(refusal(404, 'could not be found'));
});

test('a lessee services its node, and its owner’s member cleans another, with runbooks that the node was approved for', async () => {
  const [[leased], [owned]] = (await Promise.all([active(system, operator, 0), manageable(system, operator, 1)])) as [
    [string],
    [string],
  ];
  const owner = projects['owner-project'];
  await lease(operator, leased, { owner, lessee: projects['lessee-project'] });
  await lease(operator, owned, { owner });
  await powerOn(operator, leased, withinMs);
  await create('operator', 'CUSTOM_PUBLIC', bootFromDisk, '--public');
  await cli.does('operator', 'runbook', 'trait', 'add', 'CUSTOM_PUBLIC', 'CUSTOM_PUBLIC');
  await create('owner-manager', 'CUSTOM_LIGHT', light);
  await cli.does('owner-manager', 'runbook', 'trait', 'add', 'CUSTOM_LIGHT', 'CUSTOM_LIGHT');

  expect(await cli('lessee', 'node', 'service', leased, '--runbook', 'CUSTOM_PUBLIC')).toEqual(
    refusal(400, `CUSTOM_PUBLIC is not approved for node ${leased}: the node needs the trait CUSTOM_PUBLIC`),
  );
  expect(await cli('lessee', 'node', 'service', leased, '--runbook', 'CUSTOM_LIGHT')).toEqual(
    refusal(404, 'Runbook CUSTOM_LIGHT could not be found'),
  );
  const raw = ['--service-steps', '[{"interface":"power","step":"reboot"}]'];
  expect(await cli('lessee', 'node', 'service', leased, ...raw)).toEqual(
    refusal(403, 'baremetal:node:set_provision_state'),
  );
  expect(await cli('lessee', 'node', 'rebuild', leased)).toEqual(refusal(403, 'baremetal:node:set_provision_state'));

  await cli.does('operator', 'node', 'trait', 'add', leased, 'CUSTOM_PUBLIC');
  await cli.does('owner-manager', 'node', 'trait', 'add', owned, 'CUSTOM_LIGHT');
  const since = await Promise.all([leased, owned].map((node) => journalNow(system, node)));
  await Promise.all([
    cli.does('lessee', 'node', 'service', leased, '--runbook', 'CUSTOM_PUBLIC', '--wait', '240'),
    cli.does('owner', 'node', 'clean', owned, '--runbook', 'CUSTOM_LIGHT', '--wait', '240'),
  ]);
  const fields = ['--fields', 'provision_state', 'target_provision_state', 'power_state'];
  expect(await cli.json('lessee', 'node', 'show', leased, ...fields)).toEqual({
    provision_state: 'active',
    target_provision_state: null,
    power_state: 'power on',
  });
  expect(await cli.json('owner', 'node', 'show', owned, ...fields, 'last_error')).toMatchObject({
    provision_state: 'manageable',
    target_provision_state: null,
    last_error: null,
  });
  const [serviced, cleaned] = await Promise.all(
    [leased, owned].map(async (node, index) => (await acceptedSince(system, node, since[index]!)).map(commandOf)),
  );
  expect(serviced).toEqual([
    expect.stringMatching(/Hdd/),
    expect.stringMatching(/ForceOff/),
    expect.stringMatching(/"ResetType":"On"/),
  ]);
  expect(cleaned).toEqual([expect.stringMatching(/Indicator/)]);
});

test('a runbook is refused together with steps, in the wrong state, and in maintenance', async () => {
  const [node] = (await manageable(system, operator, 2)) as [string];
  await create('operator', 'CUSTOM_ANY', light);
  await cli.does('operator', 'runbook', 'trait', 'add', 'CUSTOM_ANY', 'CUSTOM_ANY');
  await cli.does('operator', 'node', 'trait', 'add', node, 'CUSTOM_ANY');
  expect(await cli('operator', 'node', 'service', node, '--runbook', 'CUSTOM_ANY')).toEqual(
    refusal(400, `The requested action "service" can not be performed on node "${node}"`),
  );
  await cli.does('operator', 'node', 'maintenance', 'set', node);
  expect(await cli('operator', 'node', 'clean', node, '--runbook', 'CUSTOM_ANY')).toEqual(
    refusal(400, 'maintenance mode'),
  );
  const both = ['--runbook', 'CUSTOM_ANY', '--clean-steps', JSON.stringify(light)];
  expect((await cli('operator', 'node', 'clean', node, ...both)).status).not.toBe(0);
});
