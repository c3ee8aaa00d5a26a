/** The redfish driver: every act, each with a client of its own on the shared connection of its BMC. */
import type { ActOutcome } from '../../model/runs';
import type { ActName } from '../../model/steps';
import type { Act, Driver, DriverHands } from '../contract';
import { type Client, createClient } from './client';
import { createConnections } from './connections';
import { powerActs, setPower } from './power';
import { redfishSettings } from './settings';
import { verify } from './verify';

type RedfishAct = (client: Client, args: Readonly<Record<string, unknown>>) => Promise<ActOutcome>;

const acts: Partial<Record<ActName, RedfishAct>> = {
  verify,
  power_on: (client) => setPower(client, powerActs.power_on),
  power_off: (client) => setPower(client, powerActs.power_off),
  soft_power_off: (client) => setPower(client, powerActs.soft_power_off),
};

export const createRedfishDriver = (hands: DriverHands): Driver => {
  const connections = createConnections(hands);
  const bound =
    (act: RedfishAct): Act =>
    async (node, args, context) =>
      act(createClient(node, context, await connections.get(node)), args);
  return {
    name: 'redfish',
    laneKey: (node) => {
      const { address } = redfishSettings(node);
      return `${address.host}:${address.port}${address.prefix}`;
    },
    acts: Object.fromEntries(Object.entries(acts).map(([name, act]) => [name, bound(act)])),
    close: () => connections.close(),
  };
};
