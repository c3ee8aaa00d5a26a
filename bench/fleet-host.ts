/** The BMCs of a fleet as one process of its own, which keeps of each only its state. Argument: the folder it may write to. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Fault, type Rack, type RackBmc, startRack } from '../emulator/rack';
import { answerParent } from './child';

/** `open` starts them, once; `fault` lets the first so many fail from then on; `look` says how many of them were asked since the last look, and for how much. */
export type FleetQuestion =
  | { readonly is: 'open'; readonly bmcs: number }
  | { readonly is: 'fault'; readonly bmcs: number; readonly faults: readonly Fault[] }
  | { readonly is: 'look' };
export type FleetAnswer = {
  /** Empty but for `open`. */
  readonly bmcs: readonly RackBmc[];
  /** On the heap, kB for each; null but for `open`. */
  readonly each_kb: number | null;
  readonly requests: number;
  /** BMCs that were asked something. */
  readonly asked: number;
};

let rack: Rack | undefined;
let seen: readonly number[] = [];

// Otherwise only there with a flag at the start.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const heapKb = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 1_024;
};

const open = async (bmcs: number): Promise<FleetAnswer> => {
  const before = heapKb();
  rack = await startRack({ stateDir: process.argv[2]!, bmcs, forgetful: true });
  return { bmcs: rack.bmcs, each_kb: (heapKb() - before) / bmcs, requests: 0, asked: 0 };
};

const look = (opened: Rack): FleetAnswer => {
  const now = opened.traffic().map(({ requests }) => requests);
  const each = now.map((requests, at) => requests - (seen[at] ?? 0));
  seen = now;
  const requests = each.reduce((sum, one) => sum + one, 0);
  return { bmcs: [], each_kb: null, requests, asked: each.filter((one) => one > 0).length };
};

const answer = async (question: FleetQuestion): Promise<FleetAnswer> => {
  if (question.is === 'open') return open(question.bmcs);
  if (!rack) throw new Error('the fleet is not open');
  if (question.is === 'fault')
    for (const { index } of rack.bmcs.slice(0, question.bmcs))
      for (const fault of question.faults) rack.fault(index, fault);
  return look(rack);
};

answerParent(answer, async () => rack?.close());
