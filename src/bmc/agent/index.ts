/** Acts of the ramdisk, for all hardware types. */
import type { ActName, acts as known } from '../../model/lifecycle/acts';
import type { ActOutcome } from '../../model/runs/runs';
import type { Act, DriverDeps } from '../contract';
import { type AgentClient, withAgent } from './client';
import { finalizeRescue, installBootloader, powerOffByAgent, writeImage } from './standby';
import { agentStep, agentSteps } from './steps';

type AgentAct = (client: AgentClient, args: Readonly<Record<string, unknown>>, deps: DriverDeps) => Promise<ActOutcome>;
type ByAgent = { [name in ActName]: (typeof known)[name] extends { by: 'agent' } ? name : never }[ActName];

const agentActs: Record<ByAgent, AgentAct> = {
  agent_steps: agentSteps,
  agent_step: agentStep,
  agent_write_image: writeImage,
  agent_install_bootloader: installBootloader,
  agent_finalize_rescue: finalizeRescue,
  agent_power_off: powerOffByAgent,
};

/**
 * Without `node.agent` each act throws AgentUnreachable, which is retried. Throws the Agent errors, StepRejected, StepOutcomeUnknown,
 * ConfigDriveFailed.
 */
export const createAgentActs = (deps: DriverDeps): Readonly<Partial<Record<ActName, Act>>> => {
  const bound =
    (act: AgentAct): Act =>
    (node, args, context) =>
      withAgent(deps, node, context, (client) => act(client, args, deps));
  return Object.fromEntries(Object.entries(agentActs).map(([name, act]) => [name, bound(act)]));
};
