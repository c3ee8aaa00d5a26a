/** ipmi driver, through the ipmitool program. */

import type { ActName } from '../../model/lifecycle/steps';
import type { ActOutcome } from '../../model/runs/runs';
import type { Act, Driver, DriverDeps } from '../contract';
import { resetBmc } from './bmc-reset';
import { listBootDevices, readBootDevice, setBootDevice } from './boot';
import { type Client, createIpmiClient } from './client';
import { setIndicator } from './indicator';
import { injectNmi, sendRaw } from './once';
import { powerActs, setPower } from './power';
import { openSerialLine } from './serial-line';
import { ipmiSettings } from './settings';
import { createTool } from './tool';
import { verify } from './verify';

type IpmiAct = (client: Client, args: Readonly<Record<string, unknown>>) => Promise<ActOutcome>;

const ipmiActs: Partial<Record<ActName, IpmiAct>> = {
  verify,
  power_on: (client) => setPower(client, powerActs.power_on),
  power_off: (client) => setPower(client, powerActs.power_off),
  soft_power_off: (client) => setPower(client, powerActs.soft_power_off),
  inject_nmi: injectNmi,
  read_boot_device: readBootDevice,
  list_boot_devices: listBootDevices,
  set_boot_device: setBootDevice,
  set_indicator: setIndicator,
  reset_bmc: resetBmc,
  send_raw: sendRaw,
};

// Each look is a process of several MiB.
const looksAtOnce = 64;

export const createIpmiDriver = (deps: DriverDeps): Driver => {
  const tool = createTool(deps);
  const bound =
    (act: IpmiAct): Act =>
    async (node, args, context) =>
      act(createIpmiClient(node, context, tool), args);
  return {
    name: 'ipmi',
    laneKey: (node) => `ipmi:${ipmiSettings(node).address.label}`,
    acts: Object.fromEntries(Object.entries(ipmiActs).map(([name, act]) => [name, bound(act)])),
    looksAtOnce,
    openSerialLine: (node) => openSerialLine(node, deps),
    close: async () => undefined,
  };
};
