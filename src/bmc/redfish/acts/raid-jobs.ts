/** Jobs that create or delete one volume each. */

import { respelled } from '../../quirks';
import { type ControllerSeen, readVolumes, type VolumeSeen } from '../discovery/raid-storage';
import type { Job, JobContext } from '../jobs/job';
import { performJobs } from '../jobs/jobs';
import type { Client, Sent } from '../transport/client';
import { isPlanned, type PlannedVolume } from './raid-levels';

export type RaidJobArgs = Readonly<Record<string, unknown>>;
type ApplyTime = 'Immediate' | 'OnReset' | null;
export type Deletion = {
  readonly controller: string;
  readonly volumesPath: string;
  readonly path: string;
  readonly applyTime: ApplyTime;
};
type Creation = PlannedVolume & { readonly applyTime: ApplyTime };
/** `clears`: only created volumes may be left. */
export type VolumePlan = {
  readonly clears: boolean;
  readonly deletions: readonly Deletion[];
  readonly creations: readonly Creation[];
};

/** A blocking create takes minutes; a volume may show only after its initialisation. */
const raidLimitMs = 3 * 60 * 60_000;

export const applyTimeOf = ({ applyTimes }: ControllerSeen): ApplyTime =>
  (['Immediate', 'OnReset'] as const).find((time) => applyTimes.includes(time)) ?? null;

/** Some BMCs refuse the property that others require. A refusal that names it was not carried out. */
const withApplyTime = async (
  of: 'create volume' | 'delete volume',
  time: ApplyTime,
  send: (more: RaidJobArgs) => Promise<Sent>,
): Promise<Sent> => {
  if (time === null) return send({});
  const timed = { '@Redfish.OperationApplyTime': time };
  const sent = await send(timed);
  if (sent.is === 'accepted') return sent;
  const next = respelled(of, timed, String(sent.error.facts.reason));
  return Object.keys(next).length === 0 ? send(next) : sent;
};

const restartFor = (time: ApplyTime): Job['restart'] => (time === 'OnReset' ? 'surely' : 'if it waits');

export const volumesText = (volumes: readonly VolumeSeen[]): string =>
  volumes.map(({ raidType, drives }) => `${raidType ?? 'a volume'} on ${drives.length} drives`).join(', ') ||
  'no volumes';

const deletion = (client: Client, { controller, volumesPath, path, applyTime }: Deletion): Job => {
  const key = `delete volume ${path.split('/').at(-1)} of ${controller}`;
  const look = async () => (await readVolumes(client, volumesPath)).volumes;
  const isGone = (volumes: readonly VolumeSeen[]) => volumes.every((volume) => volume.path !== path);
  return {
    key,
    limitMs: raidLimitMs,
    before: async () => null,
    unneeded: async () => isGone(await look()),
    send: async () => {
      const sent = await withApplyTime('delete volume', applyTime, (more) =>
        client.remove(path, Object.keys(more).length > 0 ? more : undefined, key),
      );
      return sent.is === 'refused' && sent.reply.status === 404 ? { is: 'accepted', reply: sent.reply } : sent;
    },
    effect: async () => {
      const volumes = await look();
      return { shows: isGone(volumes), seen: volumesText(volumes) };
    },
    restart: restartFor(applyTime),
  };
};

const creationJob = (client: Client, planned: Creation): Job => {
  const key = `create volume ${planned.index} (${planned.raidType} on ${planned.controller})`;
  const look = async () => (await readVolumes(client, planned.volumesPath)).volumes;
  const body = {
    RAIDType: planned.raidType,
    ...(planned.bytes !== null && { CapacityBytes: planned.bytes }),
    ...(planned.name !== null && { Name: planned.name }),
    Links: { Drives: planned.drives.map((path) => ({ '@odata.id': path })) },
  };
  return {
    key,
    limitMs: raidLimitMs,
    before: async () => (await look()).map(({ path }) => path),
    send: () =>
      withApplyTime('create volume', planned.applyTime, (more) =>
        client.post(planned.volumesPath, { ...body, ...more }, key),
      ),
    effect: async (before) => {
      const volumes = await look();
      const fresh = volumes.filter(({ path }) => !(before as string[]).includes(path));
      return { shows: fresh.some((volume) => isPlanned(planned, volume)), seen: volumesText(volumes) };
    },
    restart: restartFor(planned.applyTime),
  };
};

/** A controller refuses a second job, so each wave has one per controller. */
const wavesOf = <T extends { readonly controller: string }>(items: readonly T[]): T[][] => {
  const waves: T[][] = [];
  const turns = new Map<string, number>();
  for (const item of items) {
    const turn = turns.get(item.controller) ?? 0;
    turns.set(item.controller, turn + 1);
    waves[turn] = [...(waves[turn] ?? []), item];
  }
  return waves;
};

/** Throws performJobs's errors. */
export const carryOut = async (context: JobContext, { deletions, creations }: VolumePlan): Promise<void> => {
  for (const wave of wavesOf(deletions))
    await performJobs(
      context,
      wave.map((each) => deletion(context.client, each)),
    );
  for (const wave of wavesOf(creations))
    await performJobs(
      context,
      wave.map((each) => creationJob(context.client, each)),
    );
};
