/** The emulated rack of the bench as a process of its own, with faults by chance. Argument: the folder it may write to. */
import { type Fault, type Rack, type RackBmc, startRack, type Traffic } from '../emulator/rack';
import type { Latency } from '../emulator/rack/latency';
import { answerParent } from './child';

/** `open` starts it, once; `look` says how its BMCs were treated; `strike` gives the first ones a fault, `clear` takes it away. */
export type RackQuestion =
  | {
      readonly is: 'open';
      readonly bmcs: number;
      readonly faults: readonly Fault[];
      readonly forgetful?: boolean;
      readonly latency?: Latency;
    }
  | { readonly is: 'look' }
  | { readonly is: 'strike'; readonly bmcs: number; readonly fault: Fault }
  | { readonly is: 'clear'; readonly bmcs: number };
export type RackAnswer = {
  readonly bmcs: readonly RackBmc[];
  readonly traffic: readonly Traffic[];
  /** Writes that the rack took, and those whose answer was lost or never came. */
  readonly writes: number;
  readonly struck: number;
};

let rack: Rack | undefined;

const open = async ({ is: _, faults, ...options }: Extract<RackQuestion, { is: 'open' }>): Promise<Rack> => {
  const started = await startRack({ stateDir: process.argv[2]!, ...options });
  for (const { index } of started.bmcs) for (const fault of faults) started.fault(index, fault);
  return started;
};

const answer = async (question: RackQuestion): Promise<RackAnswer> => {
  if (question.is === 'open') rack = await open(question);
  if (!rack) throw new Error('the rack is not open');
  if (question.is === 'strike') for (let at = 0; at < question.bmcs; at++) rack.fault(at, question.fault);
  if (question.is === 'clear') for (let at = 0; at < question.bmcs; at++) rack.clearFaults(at);
  const writes = rack.journal({ session: false });
  return {
    bmcs: rack.bmcs,
    traffic: rack.traffic(),
    writes: writes.length,
    struck: writes.filter(({ fault }) => fault !== undefined).length,
  };
};

answerParent(answer, async () => rack?.close());
