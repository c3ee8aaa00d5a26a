/** Failures of acts whose ramdisk is silent: the BMC shows the state of its host. */
import type { ActContext, BmcNode, Driver } from '../bmc/contract';
import { isTemperError } from '../model/errors';
import type { ActOutcome, RunObserved } from '../model/runs/runs';
import type { Attempted } from './act-context';
import type { BmcDeps } from './bmc-deps';
import { inLane } from './lease';
import { searched, type Talk } from './ramdisk-silence';

export type Lost = {
  readonly input: Attempted;
  readonly deps: BmcDeps;
  readonly holder: string;
  readonly driver: Driver;
  readonly node: BmcNode;
  readonly context: ActContext;
  readonly talk: Talk;
  /** This attempt has announced a command. */
  readonly announced: () => boolean;
};

/** Power and boot state from the BMC; undefined if unknown. */
const lookAtHost = async ({ deps, holder, driver, node, context }: Lost): Promise<RunObserved | undefined> => {
  const { kind: _, ...rest } = context;
  const nothing = { last: async () => undefined, record: async () => {}, renew: async () => {} };
  const work = async () => (await driver.acts.verify?.(node, {}, { ...rest, intents: nothing }))?.seen;
  const turn = { lane: driver.laneKey(node), holder, signal: context.signal };
  return inLane(deps, turn, work).catch((error: unknown) => {
    context.log.warn('a silent ramdisk could not be looked for', { reason: String(error) });
    return undefined;
  });
};

/** The outcome of a shutdown act if the node of the silent ramdisk is off. */
export const shutDown = async (thrown: unknown, lost: Lost): Promise<ActOutcome | undefined> => {
  if (lost.context.signal.aborted || !isTemperError(thrown, 'AgentUnreachable')) return undefined;
  const seen = await lookAtHost(lost);
  return seen?.power_state === 'power off' ? { is: 'done', note: 'the node is off already' } : undefined;
};

/** After a long silence or a reset, the error depends on the host's state from the BMC. */
export const lostRamdisk = async (thrown: unknown, lost: Lost) => {
  const { input, deps, node, context, talk } = lost;
  if (context.signal.aborted) return thrown;
  const { inventory } = deps;
  const look = () => lookAtHost(lost);
  const { step, act, timing } = input;
  const mayHaveLeft = async (): Promise<boolean> => {
    if (context.doubted || lost.announced()) return true;
    const intent = await context.intents.last();
    return intent !== undefined && intent.detail.withdrawn !== true;
  };
  const broughtToken = async () => typeof (await inventory.ramdiskBoots.brings(node.uuid)) === 'string';
  return searched(thrown, { agents: inventory.agents, node, step, act, timing, talk, look, mayHaveLeft, broughtToken });
};
