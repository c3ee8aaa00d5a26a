/** What a BMC and its ramdisks were sent during a run: the commands that must not come twice, and how often each came. */
import type { RackBmc } from '../../demo/system';
import type { Ordered, Written } from './rack';
import type { System } from './system';

/** Where the journals stood before a run. */
export type Mark = { readonly written: number; readonly ordered: number };

export type Heard = {
  /** Commands that may harm when they come twice, with how often they came. */
  readonly once: ReadonlyMap<string, number>;
  /** All others that were accepted. */
  readonly harmless: ReadonlyMap<string, number>;
};

export const markOf = async ({ rack }: System, bmc: RackBmc): Promise<Mark> => {
  const [written, ordered] = await Promise.all([rack.written(bmc.index), rack.ordered(bmc.macs[0]!)]);
  return { written: written.at(-1)?.seq ?? 0, ordered: ordered.at(-1)?.seq ?? 0 };
};

const counted = (names: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

// Numbers at the end of a path are those of volumes, which differ from run to run.
const writtenName = ({ method, path, content }: Written): string =>
  `${method} ${path.replace(/\d+$/, 'N')} ${JSON.stringify(content)}`;
const orderedName = ({ command, step }: Ordered): string => (step ? `${command} ${step}` : command);

/** Everything since a mark. */
export const heardSince = async ({ rack }: System, bmc: RackBmc, mark: Mark): Promise<Heard> => {
  const [written, ordered] = await Promise.all([
    rack.written(bmc.index, mark.written),
    rack.ordered(bmc.macs[0]!, mark.ordered),
  ]);
  const commands = written.filter(({ accepted, session }) => accepted && !session);
  const once = [
    ...commands.filter(({ effect }) => effect === 'once').map(writtenName),
    ...ordered.filter(({ destructive }) => destructive).map(orderedName),
  ];
  return {
    once: counted(once),
    harmless: counted(commands.filter(({ effect }) => effect !== 'once').map(writtenName)),
  };
};

/** Commands that came more often than in an undisturbed run, as `command (2 instead of 1)`. */
export const beyond = (heard: ReadonlyMap<string, number>, usual: ReadonlyMap<string, number>): string[] =>
  [...heard]
    .filter(([name, times]) => times > (usual.get(name) ?? 0))
    .map(([name, times]) => `${name} (${times} instead of ${usual.get(name) ?? 0})`);
