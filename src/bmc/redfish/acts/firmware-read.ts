/** Firmware versions of a node. */
import type { ActOutcome, FirmwareComponent } from '../../../model/runs/runs';
import { tidyText } from '../../texts';
import { readParts } from '../discovery/firmware-parts';
import type { Client } from '../transport/client';

export const readVersions = async (client: Client): Promise<FirmwareComponent[]> =>
  (await readParts(client)).map(({ component, version }) => ({
    component: tidyText(component) ?? component,
    current_version: tidyText(version ?? undefined) ?? null,
  }));

export const readFirmware = async (client: Client): Promise<ActOutcome> => {
  const firmware = await readVersions(client);
  return { is: 'done', note: `${firmware.length} parts`, seen: { firmware }, value: { firmware } };
};
