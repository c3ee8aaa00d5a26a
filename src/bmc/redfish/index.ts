/** redfish driver. Each act has its own client on the shared connection of its BMC. */

import type { ActName } from '../../model/lifecycle/steps';
import type { ActOutcome } from '../../model/runs/runs';
import type { Act, Driver, DriverDeps } from '../contract';
import { confirmBios, confirmBiosReset, stageBios, stageBiosReset } from './acts/bios';
import { readBios } from './acts/bios-read';
import { resetBmc } from './acts/bmc-reset';
import { setBootDevice, setBootMode } from './acts/boot';
import { setBmcClock } from './acts/clock';
import { updateFirmware } from './acts/firmware';
import { readFirmware } from './acts/firmware-read';
import { setIndicator } from './acts/indicator';
import { readIndicators } from './acts/indicator-read';
import { inspect } from './acts/inspect';
import { ejectMedia, insertMedia } from './acts/media';
import { injectNmi } from './acts/nmi';
import { powerActs, setPower } from './acts/power';
import { applyRaid, createRaid, deleteRaid } from './acts/raid';
import { listBootDevices, readBootDevice, readMedia } from './acts/reads';
import { resetSecureBootKeys, setSecureBoot } from './acts/secure-boot';
import { createSubscription, deleteSubscription, readSubscriptions } from './acts/subscriptions';
import { verify } from './acts/verify';
import { type Client, createRedfishClient } from './transport/client';
import { createConnections } from './transport/connections';
import { redfishSettings } from './transport/settings';

type RedfishAct = (client: Client, args: Readonly<Record<string, unknown>>) => Promise<ActOutcome>;

const redfishActs: Partial<Record<ActName, RedfishAct>> = {
  verify,
  inspect,
  read_boot_device: readBootDevice,
  list_boot_devices: listBootDevices,
  read_bios: readBios,
  read_firmware: readFirmware,
  read_media: readMedia,
  read_indicators: readIndicators,
  power_on: (client) => setPower(client, powerActs.power_on),
  power_off: (client) => setPower(client, powerActs.power_off),
  soft_power_off: (client) => setPower(client, powerActs.soft_power_off),
  set_boot_device: setBootDevice,
  set_boot_mode: setBootMode,
  set_secure_boot: setSecureBoot,
  reset_secure_boot_keys: (client) => resetSecureBootKeys(client, 'reset'),
  clear_secure_boot_keys: (client) => resetSecureBootKeys(client, 'clear'),
  stage_bios: stageBios,
  confirm_bios: confirmBios,
  stage_bios_reset: stageBiosReset,
  confirm_bios_reset: confirmBiosReset,
  insert_media: insertMedia,
  eject_media: ejectMedia,
  set_indicator: setIndicator,
  reset_bmc: resetBmc,
  inject_nmi: injectNmi,
  set_bmc_clock: setBmcClock,
  update_firmware: updateFirmware,
  create_raid: createRaid,
  apply_raid: applyRaid,
  delete_raid: deleteRaid,
  read_subscriptions: readSubscriptions,
  create_subscription: createSubscription,
  delete_subscription: deleteSubscription,
  log: async ({ node, context }) => {
    context.log.info('step log', { node_uuid: node.uuid });
    return { is: 'done' };
  },
};

export const createRedfishDriver = (deps: DriverDeps): Driver => {
  const connections = createConnections(deps);
  const bound =
    (act: RedfishAct): Act =>
    async (node, args, context) =>
      act(createRedfishClient(node, context, await connections.get(node)), args);
  return {
    name: 'redfish',
    laneKey: (node) => {
      const { address } = redfishSettings(node);
      return `${address.host}:${address.port}${address.prefix}`;
    },
    acts: Object.fromEntries(Object.entries(redfishActs).map(([name, act]) => [name, bound(act)])),
    close: () => connections.close(),
  };
};
