/** The versions of firmware that a node runs. */
import type { ActOutcome, FirmwareComponent } from '../../model/runs';
import { tidyText } from '../texts';
import type { Client } from './client';
import { readParts } from './firmware-parts';

export const readVersions = async (client: Client): Promise<FirmwareComponent[]> =>
  (await readParts(client)).map(({ component, version }) => ({
    component: tidyText(component) ?? component,
    current_version: tidyText(version ?? undefined) ?? null,
  }));

export const readFirmware = async (client: Client): Promise<ActOutcome> => {
  const firmware = await readVersions(client);
  return { is: 'done', note: `${firmware.length} parts`, seen: { firmware }, value: { firmware } };
};
