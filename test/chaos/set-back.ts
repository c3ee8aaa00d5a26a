/** Whether a node came through a restore: nothing that may harm was sent twice, and a person is asked only where it cannot be known. */
import type { Runner } from './approach';
import { beyond, heardSince } from './journals';
import { type Court, decided, ending, lacking, type Outcome, safely, twice } from './judge';
import { statesOf, wrongWith } from './nodes';
import type { Standing } from './system';

type End = Pick<Outcome, 'is' | 'why' | 'asked'>;

/** Reasons for which a run may be left for a person after a restore, by what the product says. */
const mayBeLeft: readonly (readonly [says: RegExp, name: string])[] = [
  [/ended in the workflow engine without telling the store/, 'its run had ended after the backup'],
  [/what it found is not in the restored database/, 'what its inspection had found is not in the backup'],
  [/both set back to a backup/, 'both stores were set back, so that nothing knows what was done since'],
  [/since the backup|cannot be known/, 'whether its command left since the backup cannot be known'],
];

// Its act is begun anew in a ramdisk that is booted again (model/lifecycle/acts.ts, startsOver): it only converges.
const mayComeAgain = /^standby\.prepare_image /;

/** A run of which the restored database knows nothing: its node has to be set aside. */
const forgotten = async ({ system }: Court, { bmc }: Runner): Promise<End> => {
  const now = await statesOf(system, bmc);
  if (now?.maintenance && /not in the restored database/.test(now.maintenance_reason))
    return { is: 'left', why: 'its run was accepted after the backup' };
  return { is: 'failed', why: `the database does not know the run, and the node is ${JSON.stringify(now)}` };
};

const endOf = async (court: Court, runner: Runner, standing: Standing): Promise<End> => {
  if (standing.state === 'parked') {
    const why = await decided(court, runner.run!, standing);
    return why ? { is: 'failed', why } : { is: 'parked', asked: standing.step_error ?? '' };
  }
  const why = ending(standing);
  if (!why) return { is: 'ended' };
  const [, named] = mayBeLeft.find(([says]) => says.test(standing.last_error ?? '')) ?? [];
  return named ? { is: 'left', why: named } : { is: 'failed', why };
};

const known = async ({ system }: Court, run: string): Promise<boolean> => {
  for (;;) {
    const standing = await system.standing([run]);
    if (standing) return standing.has(run);
  }
};

export const judgeSetBack = safely(async (court, runner, since) => {
  const { system, settling } = court;
  const { bmc, verb, reference, mark, run } = runner;
  const is = (await known(court, run!))
    ? await endOf(
        court,
        runner,
        await settling(run!, 'end', (now) => now.finished_at !== null || now.state === 'parked'),
      )
    : await forgotten(court, runner);
  const seconds = (Date.now() - since) / 1_000;
  const heard = await heardSince(system, bmc, mark);
  const why = [
    twice(beyond(heard.once, reference.usual.once).filter((command) => !mayComeAgain.test(command))),
    is.is === 'failed' ? is.why : undefined,
    is.is === 'left' ? undefined : await wrongWith(system, bmc, verb.rests),
    is.is === 'ended' ? lacking(beyond(reference.usual.once, heard.once)) : undefined,
  ].find((one) => one !== undefined);
  const again = beyond(heard.once, reference.usual.once).filter((command) => mayComeAgain.test(command));
  const repeats = [...beyond(heard.harmless, reference.usual.harmless), ...again];
  if (why) return { is: 'failed', why: `${why} (run ${run})`, seconds, repeats };
  return { ...is, seconds, repeats };
});
