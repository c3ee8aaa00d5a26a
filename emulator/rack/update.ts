/** Firmware updates: SimpleUpdate as a task, and the versions that change when it ends. */

import { collection, healthy, link, notThere, oneOf, refuse, resource, textParameter } from './answers';
import { managerPath, systemPath } from './bmc';
import { faultOf } from './faults';
import { resetManager } from './managers';
import { isBusyWith, later, startTask } from './tasks';
import type { Answer, Bmc, Doc, Exchange, FirmwareComponent, Row, TaskWork } from './types';

const service = '/redfish/v1/UpdateService';
const inventory = `${service}/FirmwareInventory`;
const simpleUpdate = `${service}/Actions/UpdateService.SimpleUpdate`;
const protocols = ['HTTP', 'HTTPS', 'TFTP', 'NFS', 'CIFS'] as const;

/** Where each component is listed, how an image's name gives it away, and whether it takes effect only at a boot of the host. */
const components: Readonly<Record<FirmwareComponent, { id: string; name: string; guess: RegExp; needsBoot: boolean }>> =
  {
    bios: { id: 'BIOS', name: 'System BIOS', guess: /bios|uefi/i, needsBoot: true },
    bmc: { id: 'BMC', name: 'Baseboard Management Controller', guess: /bmc|idrac|ilo|xcc/i, needsBoot: false },
    nic: { id: 'NIC.1', name: 'Network Adapter', guess: /nic|net/i, needsBoot: true },
  };
const names = Object.keys(components) as FirmwareComponent[];

const related = (bmc: Bmc, component: FirmwareComponent): string =>
  component === 'bmc' ? managerPath(bmc) : component === 'bios' ? `${systemPath(bmc)}/Bios` : systemPath(bmc);

const softwareDoc = (x: Exchange): Doc => {
  const component = names.find((name) => components[name].id === x.params.software) ?? notThere(x.path);
  const { id, name } = components[component];
  return resource(`${inventory}/${id}`, 'SoftwareInventory.v1_4_0.SoftwareInventory', id, name, {
    Version: x.bmc.state.firmware[component],
    SoftwareId: id,
    Manufacturer: x.bmc.profile.manufacturer,
    ReleaseDate: '2026-01-15T00:00:00Z',
    Updateable: true,
    Status: { ...healthy },
    RelatedItem: [link(related(x.bmc, component))],
  });
};

const serviceDoc = (): Doc =>
  resource(service, 'UpdateService.v1_11_0.UpdateService', 'UpdateService', 'Update Service', {
    ServiceEnabled: true,
    Status: { State: 'Enabled', Health: 'OK' },
    HttpPushUri: `${service}/update`,
    FirmwareInventory: link(inventory),
    SoftwareInventory: link(inventory),
    Actions: {
      '#UpdateService.SimpleUpdate': {
        target: simpleUpdate,
        'TransferProtocol@Redfish.AllowableValues': protocols,
      },
    },
  });

/** From the targets if there are any, else from the image's name; BIOS when neither says. */
const componentOf = (bmc: Bmc, image: string, targets: unknown): FirmwareComponent => {
  const paths = Array.isArray(targets) ? targets.map(String) : [];
  const file = image.split('/').at(-1) ?? '';
  return (
    names.find((name) => paths.includes(`${inventory}/${components[name].id}`) || paths.includes(related(bmc, name))) ??
    names.find((name) => components[name].guess.test(file)) ??
    'bios'
  );
};

/** The version in an image's name, or the old one with its last number raised. */
const versionAfter = (image: string, old: string): string =>
  /\d+(?:\.\d+)+/.exec(image.split('/').at(-1) ?? '')?.[0] ??
  old.replace(/(\d+)(?!.*\d)/, (digits) => String(Number(digits) + 1));

const update = ({ bmc, body, now }: Exchange): Answer => {
  const image = textParameter('UpdateService.SimpleUpdate', body, 'ImageURI');
  if (!/^\w+:\/\/\S+$/.test(image))
    refuse(
      400,
      'ActionParameterValueFormatError',
      'The value for the parameter ImageURI is of a different format than it accepts.',
    );
  if (body.TransferProtocol !== undefined) oneOf('TransferProtocol', body.TransferProtocol, protocols);
  if (isBusyWith(bmc, ({ is }) => is === 'firmware')) refuse(409, 'ResourceInUse', 'A firmware update is under way.');
  const component = componentOf(bmc, image, body.Targets);
  const work: TaskWork = { is: 'firmware', component, version: versionAfter(image, bmc.state.firmware[component]) };
  const name = `Update of ${components[component].name}`;
  return startTask(bmc, { name, work, now, ms: bmc.timing.firmwareTaskMs, needsBoot: components[component].needsBoot });
};

/** What the end of a firmware task does: the new version, and for the BMC itself a reset. */
export const endFirmwareWork = (bmc: Bmc, work: TaskWork, at: number): void => {
  if (work.is !== 'firmware' && work.is !== 'version') return;
  const late = work.is === 'firmware' ? faultOf(bmc, 'version-late', at) : undefined;
  if (late) later(bmc, at + (late.ms ?? 1000), { ...work, is: 'version' });
  else bmc.state.firmware[work.component] = work.version;
  if (work.is === 'firmware' && work.component === 'bmc') resetManager(bmc, at);
};

export const updateRows: readonly Row[] = [
  { path: service, get: serviceDoc },
  { path: simpleUpdate, post: { subject: 'firmware', effect: 'once', act: update } },
  {
    path: inventory,
    get: () =>
      collection(
        inventory,
        'SoftwareInventoryCollection',
        'Firmware Inventory',
        names.map((name) => components[name].id),
      ),
  },
  { path: `${inventory}/:software`, get: softwareDoc },
];
