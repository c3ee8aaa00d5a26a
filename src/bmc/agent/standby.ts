/** Ramdisk acts for deploying and rescuing. */
import { isTemperError, raise } from '../../model/errors';
import type { ActOutcome } from '../../model/runs/runs';
import type { DriverDeps } from '../contract';
import { pause } from '../wait';
import { type AgentClient, isClosed } from './client';
import { askAgent, runCommand } from './command';
import { configDrive } from './config-drive';
import { bootModeOf, imageIdentity, imageInfo, isWholeDisk } from './image';
import { sampledFormat } from './image-format';
import { type Command, tidy } from './replies';
import { untilServed } from './served-image';

type AgentStandbyArgs = Readonly<Record<string, unknown>>;

const resultTextOf = ({ command_result }: Command): string =>
  typeof command_result?.result === 'string' ? tidy(command_result.result) : 'the ramdisk says it is done';

export const writeImage = async (
  client: AgentClient,
  _: AgentStandbyArgs,
  { imageOrigins: origins = [] }: Pick<DriverDeps, 'imageOrigins'>,
): Promise<ActOutcome> => {
  const { node } = client;
  const { signal, log } = client.context;
  const image_info = imageInfo(node);
  const command = await runCommand(client, {
    name: 'standby.prepare_image',
    what: 'write the image',
    // The drive as given, as each ISO made of the same documents is different.
    identity: [imageIdentity(node, image_info), node.instance_info?.configdrive],
    effect: 'converge',
    params: async () => {
      if (node.served_image) await untilServed(node.served_image, client.context);
      const configdrive = await configDrive(node, { signal });
      const disk_format = image_info.disk_format ?? (await sampledFormat(image_info.urls[0], { origins, signal, log }));
      return {
        image_info: { ...image_info, ...(disk_format !== undefined && { disk_format }) },
        ...(configdrive !== undefined && { configdrive }),
      };
    },
  });
  return { is: 'done', note: resultTextOf(command) };
};

const idAt = (uuids: AgentStandbyArgs, name: string): string | null =>
  typeof uuids[name] === 'string' ? uuids[name] : null;

const uuidsOf = async (client: AgentClient): Promise<AgentStandbyArgs> => {
  const order = { name: 'standby.get_partition_uuids', what: 'the question for the partitions', params: () => ({}) };
  return (await askAgent(client, order)).command_result ?? {};
};

/** A whole-disk image needs a boot loader only under UEFI, whose boot entries are not on the disk. */
export const installBootloader = async (client: AgentClient): Promise<ActOutcome> => {
  const { node } = client;
  const target_boot_mode = bootModeOf(node);
  const whole = isWholeDisk(node);
  if (whole && target_boot_mode === 'bios') return { is: 'done', note: 'the image brings its own boot loader' };
  await runCommand(client, {
    name: 'image.install_bootloader',
    what: 'install the boot loader',
    identity: [target_boot_mode, whole],
    effect: 'converge',
    params: async () => {
      const uuids = whole ? {} : await uuidsOf(client);
      const root_uuid = idAt(uuids, 'root uuid');
      // Only the ramdisk that wrote the partitions has their UUIDs. Another would report success without a boot loader.
      if (!whole && root_uuid === null)
        raise('StepRejected', {
          step: 'install the boot loader',
          reason: 'this ramdisk does not know the partitions of the image: another one wrote it',
        });
      const efi_system_part_uuid = idAt(uuids, 'efi system partition uuid');
      const prep_boot_part_uuid = idAt(uuids, 'PReP Boot partition uuid');
      return { root_uuid, efi_system_part_uuid, prep_boot_part_uuid, target_boot_mode };
    },
  });
  return { is: 'done', note: 'the node boots what was written' };
};

/** `args.rescue_password` is a hash. The ramdisk serves no requests afterwards. */
export const finalizeRescue = async (
  client: AgentClient,
  { rescue_password }: AgentStandbyArgs,
): Promise<ActOutcome> => {
  const before = await client.context.intents.last();
  const params = () => ({ rescue_password, hashed: true });
  const order = {
    name: 'rescue.finalize_rescue',
    what: 'set the rescue password',
    identity: rescue_password,
    closes: true,
  } as const;
  try {
    await runCommand(client, { ...order, effect: 'converge', params });
  } catch (error) {
    client.context.signal.throwIfAborted();
    const announced = before ?? (await client.context.intents.last());
    if (!isClosed(error) || !announced || announced.detail.withdrawn === true) throw error;
    return { is: 'done', note: 'the ramdisk has closed its door, as it does once the password is set' };
  }
  return { is: 'done', note: 'the rescue password is set' };
};

const downMs = 30_000;

/** Waits only a short time: the BMC ensures the power state afterwards. */
const waitUntilGone = async (client: AgentClient): Promise<boolean> => {
  const { timing, signal, beat } = client.context;
  const deadline = performance.now() + Math.min(downMs, timing.powerTimeoutMs);
  while (performance.now() < deadline) {
    beat({ what: 'shut down', doing: 'waiting for the ramdisk to go' });
    try {
      await client.startedAt();
    } catch (error) {
      signal.throwIfAborted();
      if (isTemperError(error, 'AgentUnreachable')) return true;
    }
    await pause(timing.pollMs, signal);
  }
  return false;
};

/** If an earlier attempt has sent the command, an unreachable ramdisk means success. */
export const powerOffByAgent = async (client: AgentClient): Promise<ActOutcome> => {
  const { context } = client;
  const asked = async (): Promise<void> => {
    await askAgent(client, { name: 'standby.sync', what: 'write buffers to the disk', params: () => ({}) });
    await context.intents.record({ command: 'standby.power_off' });
    await client.post('standby.power_off', {});
  };
  const before = await context.intents.last();
  await asked().catch(async (error: unknown) => {
    context.signal.throwIfAborted();
    if (!isTemperError(error, 'AgentUnreachable') || !(before ?? (await context.intents.last()))) throw error;
  });
  return { is: 'done', note: (await waitUntilGone(client)) ? 'the ramdisk is down' : 'asked; the BMC makes sure' };
};
