/** Emulated ramdisks for one test file: a fresh one for every test, with the acts that talk to it. */

import { type AgentFault, type AgentTiming, createAgents } from '../../../emulator/agent';
import { createGate, type Gate } from '../../../emulator/agent/gate';
import { createAgentActs } from '../../../src/bmc/agent';
import type { ActContext, AgentContact, BmcNode, DriverDeps } from '../../../src/bmc/contract';
import { isTemperError, type TemperError } from '../../../src/model/errors';
import type { NodeUuid } from '../../../src/model/ids';
import type { ActName } from '../../../src/model/lifecycle/steps';
import { startRamdiskApi } from '../../support/ramdisk-api';
import { contextWith, type Intents, intentsOf, nodeWith, quiet } from './context';

type More = Partial<ActContext> & { intents?: Intents; deps?: Partial<DriverDeps>; node?: Partial<BmcNode> };

const quickAgents: AgentTiming = {
  bootMs: 0,
  lookupRetryMs: 20,
  beatRetryMs: 20,
  stepMs: 30,
  imageMs: 30,
  bootloaderMs: 10,
  powerOffMs: 10,
};

export const startRamdiskBench = async (tls = true, timing: Partial<AgentTiming> = {}) => {
  const api = await startRamdiskApi();
  const cuts = new Map<string, () => boolean>();
  const gateOf = (mac: string): Gate => ({
    ...createGate(),
    leave: async ({ write }) => !(write && cuts.get(mac)?.()),
  });
  const quick = { ...quickAgents, ...timing };
  const agents = await createAgents({ apiUrl: api.url, tls, inspects: false, timing: quick, gateOf });
  let count = 0;

  /** A machine that has booted and called back. */
  const bench = async (info: Record<string, unknown> = {}) => {
    count += 1;
    const mac = `02:00:00:00:00:${count.toString(16).padStart(2, '0')}`;
    const uuid = api.know(mac) as NodeUuid;
    agents.boot({ macs: [mac] });
    const { body } = await api.beat((beat) => beat.node === uuid);
    const agent: AgentContact = {
      url: body.callback_url!,
      token: body.agent_token!,
      version: body.agent_version ?? null,
      verify_ca: body.agent_verify_ca ?? null,
    };
    const node: BmcNode = {
      ...nodeWith('redfish', {}),
      uuid,
      boot_mode: 'uefi',
      instance_info: info,
      ports: [{ address: mac, pxe_enabled: true }],
      agent,
    };
    const run = (
      act: ActName,
      args: Record<string, unknown> = {},
      { intents, deps, node: other, ...more }: More = {},
    ) =>
      createAgentActs({ log: quiet, networks: ['127.0.0.0/8'], ...deps })[act]!(
        { ...node, ...other },
        args,
        contextWith(intents ?? intentsOf(act), more),
      );
    return {
      mac,
      node,
      agent,
      run,
      /** The error of the list that an act ends with. */
      failure: async (act: ActName, args: Record<string, unknown> = {}, more: More = {}) => {
        const thrown: unknown = await run(act, args, more).then(
          (outcome) => new Error(`it ended well: ${JSON.stringify(outcome)}`),
          (error: unknown) => error,
        );
        if (!isTemperError(thrown)) throw thrown;
        return thrown as TemperError;
      },
      fault: (fault: AgentFault) => agents.fault(mac, fault),
      heal: () => agents.clearFaults(mac),
      /** Asked when a command has been taken, before its answer goes out: true closes the connection instead. */
      cut: (when: () => boolean) => void cuts.set(mac, when),
      reboot: async () => {
        api.forgetToken(mac);
        const before = api.beats.length;
        agents.boot({ macs: [mac] });
        const again = await api.beat((beat) => beat.node === uuid && api.beats.indexOf(beat) >= before);
        return { ...agent, token: again.body.agent_token! };
      },
      destructive: () => agents.journal({ mac, destructive: true }),
      journal: () => agents.journal({ mac }).map(({ command }) => command),
    };
  };

  return {
    api,
    agents,
    bench,
    async close() {
      await agents.close();
      await api.close();
    },
  };
};

export type RamdiskBench = Awaited<ReturnType<typeof startRamdiskBench>>;
/** A step of the ramdisk in a kind, as a context carries it. */
export const inStep = (step: string, kind = 'clean', name = 'deploy') => ({
  kind,
  step: { index: 0, interface: name, step },
});
