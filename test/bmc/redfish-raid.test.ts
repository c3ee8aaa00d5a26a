/** RAID through a BMC: what is planned, what is sent, and what an act makes of tasks that lie, vanish or never end. */
import { planVolumes } from '../../src/bmc/redfish/acts/raid-plan';
import type { ControllerSeen, DriveSeen } from '../../src/bmc/redfish/discovery/raid-storage';
import { judge } from '../../src/bmc/redfish/jobs/tasks';
import { intentsOf, quickTiming } from './support/context';
import { type RackBench, startRackBench } from './support/rack';

let racks: RackBench;
beforeAll(async () => {
  racks = await startRackBench({ bmcs: 8 * 12, timing: { volumeTaskMs: 60 } });
});
afterAll(() => racks.close());

const gib = 1024 ** 3;
const courtesy = { spacingMs: 0, afterWriteMs: 0, loginSpacingMs: 0, reads: 2 };
type Disk = Record<string, unknown>;
const config = (...logical_disks: Disk[]) => ({ logical_disks });
const mirror: Disk = { size_gb: 100, raid_level: '1', volume_name: 'root', is_root_volume: true };
const rest: Disk = { size_gb: 'MAX', raid_level: '0' };

const benchOf = (profile: string, ...disks: Disk[]) => {
  const bench = racks.bench(profile, {}, { limits: { courtesy } });
  Object.assign(bench.node, { target_raid_config: disks.length > 0 ? config(...disks) : null });
  return {
    ...bench,
    /** Commands about volumes that the BMC has taken. */
    commands: () => bench.accepted().filter(({ subject }) => subject === 'storage'),
    volumes: () => Object.values(bench.state().volumes).flat(),
    boots: () => bench.state().boot.boots,
  };
};

/** A signal that aborts when the act reports that this is what it does, and the BMC has taken a command. */
const killedWhen = (doing: string, taken: () => number) => {
  const worker = new AbortController();
  const beat = (details?: Readonly<Record<string, unknown>>) => {
    if (details?.doing === doing && taken() > 0) worker.abort(new Error('killed'));
  };
  return { signal: worker.signal, beat };
};

const short = { ...quickTiming, softPowerTimeoutMs: 150, settleMs: 50 };

describe('what is made', () => {
  test.each(['idrac9', 'ilo5', 'xcc', 'supermicro-x12', 'ami', 'openbmc', 'ilo6', 'xcc-new'])(
    'the volumes of target_raid_config are made on %s, and shown as raid_config',
    async (profile) => {
      const { run, volumes, commands } = benchOf(profile, rest, mirror);
      const outcome = await run('create_raid');
      expect(volumes().map(({ raidType, drives }) => [raidType, drives.length])).toEqual([
        ['RAID1', 2],
        ['RAID0', 2],
      ]);
      expect(volumes()[0]).toMatchObject({ name: 'root', capacityBytes: 100 * gib });
      expect(commands()).toHaveLength(2);
      expect(outcome.seen?.raid_config).toMatchObject({
        last_updated: expect.stringMatching(/^\d{4}-/),
        logical_disks: [
          { raid_level: '1', size_gb: 100, volume_name: 'root', is_root_volume: true },
          { raid_level: '0', is_root_volume: false },
        ],
      });
    },
  );

  test('a choice of root or other volumes leaves the others out', async () => {
    const { run, volumes } = benchOf('openbmc', mirror, rest);
    await run('create_raid', { create_nonroot_volumes: false });
    expect(volumes().map(({ raidType }) => raidType)).toEqual(['RAID1']);
  });

  test('existing volumes are deleted first where that is asked for', async () => {
    const { run, volumes, commands } = benchOf('idrac9', rest);
    await run('create_raid');
    const [old] = volumes();
    await run('create_raid', { delete_existing: true });
    expect(volumes()).toHaveLength(1);
    expect(volumes()[0]!.id).not.toBe(old!.id);
    expect(commands().map(({ method }) => method)).toEqual(['POST', 'DELETE', 'POST']);
  });

  test('a configuration that is applied again makes nothing twice', async () => {
    const { run, volumes, commands } = benchOf('ilo6');
    await run('apply_raid', { raid_config: config(mirror) });
    await expect(run('apply_raid', { raid_config: config(mirror) })).resolves.toMatchObject({
      note: 'volumes: nothing to do',
    });
    await run('apply_raid', { raid_config: config(mirror, { size_gb: 50, raid_level: '1' }) });
    expect(volumes().map(({ capacityBytes }) => capacityBytes / gib)).toEqual([100, 50]);
    expect(commands()).toHaveLength(2);
  });

  test.each(['idrac9', 'xcc'])('all volumes are deleted on %s', async (profile) => {
    const { run, volumes } = benchOf(profile, mirror, { ...mirror, is_root_volume: false });
    await run('create_raid');
    const outcome = await run('delete_raid');
    expect(volumes()).toEqual([]);
    expect(outcome.seen?.raid_config).toMatchObject({ logical_disks: [] });
    expect((await run('delete_raid')).note).toBe('volumes: nothing to do');
  });
});

describe('what is refused before anything is sent', () => {
  test.each<[string, Disk[], string]>([
    ['more drives than there are', [{ size_gb: 100, raid_level: '6+0' }], 'no controller offers RAID60'],
    ['more space than there is', [{ size_gb: 9_000, raid_level: '1' }], 'no controller has the drives'],
    ['a level that redfish lacks', [{ size_gb: 10, raid_level: 'JBOD' }], 'cannot be made through redfish'],
    ['scsi', [{ size_gb: 10, raid_level: '1', interface_type: 'scsi' }], 'use sata or sas'],
    ['disks that are not there', [{ size_gb: 10, raid_level: '1', disk_type: 'hdd' }], 'logical disk 0'],
    ['a second disk without drives', [rest, { ...rest, raid_level: '6' }], 'no controller has the drives'],
  ])('%s', async (_, disks, reason) => {
    const { failure, commands } = benchOf('openbmc', ...disks);
    const error = await failure('create_raid');
    expect(error).toMatchObject({ code: 'StepRejected', retry: false });
    expect(error.message).toContain(reason);
    expect(commands()).toHaveLength(0);
  });

  test('a node without target_raid_config', async () => {
    expect(await benchOf('openbmc').failure('create_raid')).toMatchObject({ code: 'InvalidStepArgs' });
  });
});

describe('controllers that change volumes at the next boot only', () => {
  test('the host is restarted once for each request, one request at a time', async () => {
    const { run, fault, volumes, boots, commands } = benchOf('openbmc', mirror, { ...mirror, is_root_volume: false });
    await run('power_on');
    fault({ kind: 'raid-on-reset', seconds: 600 });
    await run('create_raid');
    expect(volumes()).toHaveLength(2);
    expect(boots()).toBe(3);
    expect(commands().map(({ content }) => content)).toMatchObject([
      { '@Redfish.OperationApplyTime': 'OnReset' },
      { '@Redfish.OperationApplyTime': 'OnReset' },
    ]);
  });

  test('a worker killed during the restart leaves it to the next one, which restarts nothing twice', async () => {
    const { run, fault, accepted, volumes, boots, commands } = benchOf('openbmc', mirror);
    await run('power_on');
    fault({ kind: 'raid-on-reset', seconds: 600 });
    const intents = intentsOf('create_raid');
    const resets = () => accepted().filter(({ subject }) => subject === 'power').length;
    const killed = killedWhen('waiting', () => resets() - 1);
    await expect(run('create_raid', {}, { intents, ...killed })).rejects.toThrow('killed');
    await expect(run('create_raid', {}, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
    expect([volumes().length, boots(), resets(), commands().length]).toEqual([1, 2, 3, 1]);
  });
});

describe('tasks that misbehave', () => {
  test('a task that is not known right after its start is waited for', async () => {
    const { run, fault, commands } = benchOf('ami', mirror);
    fault({ kind: 'task-late', ms: 100, seconds: 60 });
    await expect(run('create_raid')).resolves.toMatchObject({ is: 'done' });
    expect(commands()).toHaveLength(1);
  });

  test('a task deleted at its end is made up for by the volume that shows', async () => {
    const { run, fault, commands } = benchOf('ami', mirror);
    fault({ kind: 'task-forgotten', seconds: 60 });
    await expect(run('create_raid')).resolves.toMatchObject({ is: 'done' });
    expect(commands()).toHaveLength(1);
  });

  test.each(['task-no-location', 'task-in-body', 'task-new', 'work-late', 'task-retry-after'] as const)(
    '%s makes no difference to the result',
    async (kind) => {
      const { run, fault, volumes, commands } = benchOf('ami', mirror);
      fault({ kind, ms: 200, retryAfter: 1, seconds: kind === 'task-new' ? 0.5 : 60 });
      await expect(run('create_raid')).resolves.toMatchObject({ is: 'done' });
      expect([volumes().length, commands().length]).toEqual([1, 1]);
    },
  );

  test.each([
    ['task-fails', 'nothing was changed'],
    ['task-critical', 'Critical'],
    ['work-lost', 'its task ended well, but the BMC shows no volumes'],
  ] as const)('%s is a failure, and the engine’s next attempt sends nothing', async (kind, reason) => {
    const { failure, fault, commands } = benchOf('supermicro-x12', mirror);
    fault({ kind, seconds: 60 });
    const intents = intentsOf('create_raid');
    const error = await failure('create_raid', {}, { intents, timing: short });
    expect(error).toMatchObject({ code: 'BmcJobFailed', retry: false });
    expect(error.message).toContain(reason);
    expect((await failure('create_raid', {}, { intents, attempt: 2 })).message).toBe(error.message);
    expect(commands()).toHaveLength(1);
  });

  test('what failed is sent again when a person asks for it', async () => {
    const { run, failure, fault, commands, volumes } = benchOf('supermicro-x12', mirror);
    const intents = intentsOf('create_raid');
    fault({ kind: 'task-fails', remaining: 1 });
    await failure('create_raid', {}, { intents });
    await expect(run('create_raid', {}, { intents })).resolves.toMatchObject({ is: 'done' });
    expect([commands().length, volumes().length]).toEqual([2, 1]);
  });

  test('a task that never ends is given up with advice', async () => {
    const { failure, fault, commands } = benchOf('xcc', mirror);
    fault({ kind: 'task-stuck', seconds: 60 });
    const timing = { ...quickTiming, limits: { once: { startToCloseMs: 200 } } };
    const error = await failure('create_raid', {}, { timing });
    expect(error).toMatchObject({
      code: 'BmcJobEndless',
      retry: false,
      facts: { seen: expect.stringContaining('Running') },
    });
    expect(error.message).toContain('Reset the BMC');
    expect(commands()).toHaveLength(1);
  });

  test('a vanished task without effect is an outcome that cannot be known, and stays one', async () => {
    const { failure, fault, commands } = benchOf('ami', mirror);
    fault({ kind: 'task-vanishes', seconds: 60 });
    fault({ kind: 'task-stuck', seconds: 60 });
    const intents = intentsOf('create_raid');
    expect((await failure('create_raid', {}, { intents, timing: short })).code).toBe('StepOutcomeUnknown');
    expect((await failure('create_raid', {}, { intents, attempt: 2 })).code).toBe('StepOutcomeUnknown');
    expect(commands()).toHaveLength(1);
  });

  test('where the task has vanished, the vendor’s own job reports its failure', async () => {
    const { failure, fault } = benchOf('idrac9', mirror);
    fault({ kind: 'task-vanishes', seconds: 60 });
    fault({ kind: 'task-fails', seconds: 60 });
    const error = await failure('create_raid', {}, { timing: short });
    expect(error).toMatchObject({ code: 'BmcJobFailed', facts: { reason: expect.stringContaining('job Failed') } });
  });

  test('looks that fail while a task runs are only noted', async () => {
    const { run, fault, commands } = benchOf('ilo6', mirror);
    let hurt = false;
    const beat = (details?: Readonly<Record<string, unknown>>) => {
      if (details?.doing !== 'waiting' || hurt) return;
      hurt = true;
      for (const kind of ['html-504', 'http-500', 'truncated-json', 'drop-before'] as const)
        fault({ kind, method: 'GET' });
    };
    await expect(run('create_raid', {}, { beat })).resolves.toMatchObject({ is: 'done' });
    expect([hurt, commands().length]).toEqual([true, 1]);
  });
});

describe('a worker killed in the middle', () => {
  test.each(['sending', 'accepted', 'waiting'])('while %s leaves nothing to be sent twice', async (doing) => {
    const { run, commands, volumes } = benchOf('ilo5', mirror, { ...mirror, is_root_volume: false });
    const intents = intentsOf('create_raid');
    let beats = 0;
    const killed = killedWhen(doing, () => (doing === 'sending' ? beats++ : commands().length));
    await expect(run('create_raid', {}, { intents, ...killed })).rejects.toThrow('killed');
    await expect(run('create_raid', {}, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
    expect([commands().length, volumes().length]).toEqual([2, 2]);
  });

  test('a command whose answer was lost is found by its task', async () => {
    const { run, fault, commands, volumes } = benchOf('xcc-new', mirror);
    fault({ kind: 'drop-after-write', path: '/Volumes$' });
    await expect(run('create_raid')).resolves.toMatchObject({ is: 'done' });
    expect([commands().length, volumes().length]).toEqual([1, 1]);
  });

  test('a command that may or may not have arrived is not sent again', async () => {
    const { failure, fault, commands } = benchOf('xcc-new', mirror);
    fault({ kind: 'drop-before', path: '/Volumes$', method: 'POST' });
    const intents = intentsOf('create_raid');
    expect((await failure('create_raid', {}, { intents, timing: short })).code).toBe('StepOutcomeUnknown');
    expect((await failure('create_raid', {}, { intents, attempt: 2 })).code).toBe('StepOutcomeUnknown');
    expect(commands()).toHaveLength(0);
  });

  test('a refused command is sent by the next attempt', async () => {
    const { run, failure, fault, commands } = benchOf('xcc', mirror);
    const intents = intentsOf('create_raid');
    fault({ kind: 'http-503', path: '/Volumes$', method: 'POST', retryAfter: 0 });
    expect(await failure('create_raid', {}, { intents })).toMatchObject({ code: 'BmcBusy', retry: true });
    await expect(run('create_raid', {}, { intents, attempt: 2 })).resolves.toMatchObject({ is: 'done' });
    expect(commands()).toHaveLength(1);
  });
});

describe('which drives are taken', () => {
  const drive = (id: string, size: number, media = 'SSD'): DriveSeen => ({
    path: `/d/${id}`,
    names: [id, `/d/${id}`],
    id,
    bytes: size * gib,
    media,
    protocol: 'SAS',
  });
  const controller = (id: string, drives: DriveSeen[], more: Partial<ControllerSeen> = {}): ControllerSeen => ({
    id,
    names: [id],
    raidTypes: undefined,
    volumesPath: `/${id}/Volumes`,
    applyTimes: [],
    drives,
    volumes: [],
    ...more,
  });
  const plan = (disks: Disk[], ...controllers: ControllerSeen[]) => {
    const planned = planVolumes(
      disks.map((disk, index) => ({ disk: disk as never, index })),
      controllers,
      true,
    );
    return 'fault' in planned
      ? planned.fault
      : planned.volumes.map((volume) => [
          volume.index,
          volume.controller,
          volume.drives.map((path) => path.slice(3)).join(),
        ]);
  };
  const mixed = controller('A', [drive('a', 100), drive('b', 400), drive('c', 100), drive('d', 400, 'HDD')]);

  test.each<[string, Disk[], unknown]>([
    ['the smallest that hold it', [{ raid_level: '1', size_gb: 90 }], [[0, 'A', 'a,c']]],
    ['larger ones where it needs them', [{ raid_level: '1', size_gb: 300 }], [[0, 'A', 'b,d']]],
    ['the fewest that hold it', [{ raid_level: '0', size_gb: 350 }], [[0, 'A', 'b']]],
    ['those of the kind asked for', [{ raid_level: '0', size_gb: 50, disk_type: 'hdd' }], [[0, 'A', 'd']]],
    ['those that are named', [{ raid_level: '1', size_gb: 50, physical_disks: ['b', 'c'] }], [[0, 'A', 'c,b']]],
    [
      'what is left for MAX, which comes last',
      [
        { raid_level: '0', size_gb: 'MAX' },
        { raid_level: '1', size_gb: 90 },
      ],
      [
        [1, 'A', 'a,c'],
        [0, 'A', 'b,d'],
      ],
    ],
    [
      'the same ones for disks that share',
      [1, 2].map(() => ({ raid_level: '1', size_gb: 40, share_physical_disks: true })),
      [
        [0, 'A', 'a,c'],
        [1, 'A', 'a,c'],
      ],
    ],
  ])('%s', (_, disks, expected) => {
    expect(plan(disks, mixed)).toEqual(expected);
  });

  test('a controller that does not offer the level is passed over, and one that is named is taken', () => {
    const two = () => [drive('x', 100), drive('y', 100)];
    const [a, b, c] = [
      controller('A', two(), { raidTypes: ['RAID0'] }),
      controller('B', two()),
      controller('C', two()),
    ];
    expect(plan([{ raid_level: '1', size_gb: 10 }], a, b, c)).toEqual([[0, 'B', 'x,y']]);
    expect(plan([{ raid_level: '1', size_gb: 10, controller: 'C' }], a, b, c)).toEqual([[0, 'C', 'x,y']]);
    expect(plan([{ raid_level: '1', size_gb: 10, controller: 'A' }], a, b, c)).toContain('no controller offers RAID1');
  });

  test('drives of volumes that stay are not touched', () => {
    const volume = { path: '/v', name: 'v', raidType: 'RAID1', bytes: 100 * gib, drives: ['/d/x', '/d/y'] };
    const full = controller('A', [drive('x', 100), drive('y', 100)], { volumes: [volume] });
    expect(plan([{ raid_level: '0', size_gb: 10 }], full)).toContain('no controller has the drives');
  });
});

test.each<[string, string, object]>([
  ['New', 'OK', { is: 'running', waits: false }],
  ['Starting', 'OK', { is: 'running', waits: true }],
  ['Pending', 'OK', { is: 'running', waits: true }],
  ['Interrupted', 'Warning', { is: 'running', waits: false }],
  ['Stopping', 'OK', { is: 'running' }],
  ['Sideways', 'OK', { is: 'running' }],
  ['Completed', 'OK', { is: 'done' }],
  ['Completed', 'Warning', { is: 'done' }],
  ['Completed', 'Critical', { is: 'failed' }],
  ['Exception', 'Critical', { is: 'failed' }],
  ['Killed', 'OK', { is: 'failed' }],
  ['Cancelled', 'OK', { is: 'failed' }],
])('a task that is %s with status %s counts as %p', (TaskState, TaskStatus, expected) => {
  expect(judge({ TaskState, TaskStatus, PercentComplete: 100 } as never)).toMatchObject(expected);
});
