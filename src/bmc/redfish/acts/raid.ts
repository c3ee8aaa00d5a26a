/** RAID configurations, done only when a new look shows the volumes. */
import { raise } from '../../../model/errors';
import { raidFault } from '../../../model/lifecycle/raid';
import type { ActOutcome } from '../../../model/runs/runs';
import { type ControllerSeen, readStorage, type VolumeSeen } from '../discovery/raid-storage';
import { openLedger } from '../jobs/job-ledger';
import type { Client } from '../transport/client';
import { applyTimeOf, carryOut, type Deletion, type RaidJobArgs, type VolumePlan, volumesText } from './raid-jobs';
import { gib, isDisk, isPlanned, type LogicalDisk, levelOf, type PlannedVolume } from './raid-levels';
import { planVolumes } from './raid-plan';
import { seenPower } from './restart';

const logicalDisk = (controller: ControllerSeen, volume: VolumeSeen, planned: readonly PlannedVolume[]) => ({
  controller: controller.id,
  raid_level: levelOf(volume.raidType) ?? volume.raidType ?? null,
  size_gb: Math.round(volume.bytes / gib),
  volume_name: volume.name ?? null,
  physical_disks: volume.drives.map((path) => controller.drives.find((drive) => drive.path === path)?.id ?? path),
  is_root_volume: planned.some((each) => each.root && isPlanned(each, volume)),
});

/** raid_config as in openstack/ironic:ironic/drivers/modules/redfish/raid.py. */
const raidConfig = (controllers: readonly ControllerSeen[], planned: readonly PlannedVolume[]) => ({
  logical_disks: controllers.flatMap((controller) =>
    controller.volumes.map((volume) => logicalDisk(controller, volume, planned)),
  ),
  last_updated: new Date().toISOString(),
});

/** A volume may have disappeared since its job. */
const confirm = async (client: Client, { clears, deletions, creations }: VolumePlan): Promise<ActOutcome> => {
  const controllers = await readStorage(client);
  const volumes = controllers.flatMap((controller) => controller.volumes);
  const missing = creations.some((planned) => !volumes.some((volume) => isPlanned(planned, volume)));
  if (missing || (clears && volumes.length > creations.length))
    return raise(
      'BmcJobFailed',
      client.facts({ what: 'RAID volumes', reason: `the BMC shows ${volumesText(volumes)}` }),
    );
  const counted = { deleted: deletions.length, made: creations.length };
  const note = Object.entries(counted).flatMap(([did, count]) => (count > 0 ? [`${did} ${count}`] : []));
  return {
    is: 'done',
    note: `volumes: ${note.join(', ') || 'nothing to do'}`,
    seen: { ...(await seenPower(client)), raid_config: raidConfig(controllers, creations) },
  };
};

const deletionsOf = (controllers: readonly ControllerSeen[]): Deletion[] =>
  controllers.flatMap((controller) =>
    controller.volumes.map(({ path }) => ({
      controller: controller.id,
      volumesPath: controller.volumesPath,
      path,
      applyTime: applyTimeOf(controller),
    })),
  );

type Wish = {
  readonly step: string;
  readonly config: unknown;
  readonly args: RaidJobArgs;
  readonly keepsWhatFits: boolean;
};
type Numbered = { readonly disk: LogicalDisk; readonly index: number };

const disksOf = ({ step, config, args }: Wish): Numbered[] => {
  const fault = raidFault(config);
  if (fault) return raise('InvalidStepArgs', { step, reason: `the RAID configuration ${fault}` });
  const wanted = (disk: LogicalDisk) =>
    (disk.is_root_volume ? args.create_root_volume : args.create_nonroot_volumes) !== false;
  return (config as { logical_disks: LogicalDisk[] }).logical_disks
    .map((disk, index) => ({ disk, index }))
    .filter(({ disk }) => wanted(disk));
};

/** Each volume counts for one disk. */
const missingOf = (disks: readonly Numbered[], controllers: readonly ControllerSeen[]): Numbered[] => {
  const volumes = controllers.flatMap((controller) => controller.volumes);
  return disks.filter(({ disk }) => {
    const at = volumes.findIndex((volume) => isDisk(disk, volume));
    if (at >= 0) volumes.splice(at, 1);
    return at < 0;
  });
};

const planOf = async (client: Client, wish: Wish): Promise<VolumePlan> => {
  const disks = disksOf(wish);
  const controllers = await readStorage(client);
  const clears = wish.args.delete_existing === true;
  const wanted = wish.keepsWhatFits && !clears ? missingOf(disks, controllers) : disks;
  const planned = planVolumes(wanted, controllers, !clears);
  if ('fault' in planned) return raise('StepRejected', client.facts({ step: wish.step, reason: planned.fault }));
  const timeFor = (id: string) => applyTimeOf(controllers.find((controller) => controller.id === id)!);
  const creations = planned.volumes.map((volume) => ({ ...volume, applyTime: timeFor(volume.controller) }));
  return { clears, deletions: clears ? deletionsOf(controllers) : [], creations };
};

const bring = async (client: Client, wish: Wish): Promise<ActOutcome> => {
  const desired = JSON.parse(JSON.stringify({ config: wish.config, args: wish.args })) as RaidJobArgs;
  const ledger = await openLedger(client.context, desired);
  const plan = await ledger.plan(() => planOf(client, wish));
  await carryOut({ client, ledger }, plan);
  return confirm(client, plan);
};

/** Refuses what the drives cannot hold, before anything is sent. */
export const createRaid = (client: Client, args: RaidJobArgs): Promise<ActOutcome> => {
  const step = 'raid.create_configuration';
  const config = client.node.target_raid_config;
  if (!config || Object.keys(config).length === 0)
    return raise('InvalidStepArgs', { step, reason: 'the node has no target_raid_config; set it first' });
  return bring(client, { step, config, args, keepsWhatFits: false });
};

/** Existing volumes stay unless `delete_existing`. */
export const applyRaid = (client: Client, { raid_config, ...args }: RaidJobArgs): Promise<ActOutcome> =>
  bring(client, { step: 'raid.apply_configuration', config: raid_config, args, keepsWhatFits: true });

export const deleteRaid = async (client: Client): Promise<ActOutcome> => {
  const ledger = await openLedger(client.context, { raid: 'none' });
  const plan = await ledger.plan<VolumePlan>(async () => ({
    clears: true,
    deletions: deletionsOf(await readStorage(client)),
    creations: [],
  }));
  await carryOut({ client, ledger }, plan);
  return confirm(client, plan);
};
