/** The emulated rack of the bench as a process of its own, with faults by chance. Argument: the folder it may write to. */
import { type Fault, type Rack, type RackBmc, startRack, type Traffic } from '../emulator/rack';
import { answerParent } from './child';

/** `open` starts it, once; `look` tells how its BMCs were treated. */
export type RackQuestion =
  | { readonly is: 'open'; readonly bmcs: number; readonly faults: readonly Fault[] }
  | { readonly is: 'look' };
export type RackAnswer = {
  readonly bmcs: readonly RackBmc[];
  readonly traffic: readonly Traffic[];
  /** Writes that the rack took, and those whose answer was lost or never came. */
  readonly writes: number;
  readonly struck: number;
};

let rack: Rack | undefined;

const open = async (bmcs: number, faults: readonly Fault[]): Promise<Rack> => {
  const started = await startRack({ stateDir: process.argv[2]!, bmcs });
  for (const { index } of started.bmcs) for (const fault of faults) started.fault(index, fault);
  return started;
};

const answer = async (question: RackQuestion): Promise<RackAnswer> => {
  if (question.is === 'open') rack = await open(question.bmcs, question.faults);
  if (!rack) throw new Error('the rack is not open');
  const writes = rack.journal({ session: false });
  return {
    bmcs: rack.bmcs,
    traffic: rack.traffic(),
    writes: writes.length,
    struck: writes.filter(({ fault }) => fault !== undefined).length,
  };
};

answerParent(answer, async () => rack?.close());
