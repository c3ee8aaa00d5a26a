/** Whether a node came through: the run's end, the node's state, and every command that its BMC and its ramdisks heard. */
import { steps } from '../../src/model/lifecycle/steps';
import type { Runner } from './approach';
import { beyond, heardSince } from './journals';
import { wrongWith } from './nodes';
import type { Settling } from './settling';
import type { Standing, System } from './system';

/**
 * `ended`: well, as if nothing had happened. `parked`: it asked a person, as its step's row allows, and then ended well. `left`:
 * a restore left the node for a person, for a reason that is named.
 */
export type Outcome = {
  readonly is: 'ended' | 'parked' | 'left' | 'failed' | 'missed';
  readonly why?: string;
  /** What a person was asked, of a run that parked. */
  readonly asked?: string;
  /** From the kill to the end. */
  readonly seconds: number;
  /** Commands that came more often than usual, and may. */
  readonly repeats: readonly string[];
};

const mayPark = (step: string | null): boolean =>
  steps.some((row) => row.parks && `${row.interface}.${row.step}` === step);

export type Court = { readonly system: System; readonly settling: Settling };

/** A person who has looked for herself goes on without the step. */
export const decided = async (court: Court, run: string, standing: Standing): Promise<string | undefined> => {
  if (!mayPark(standing.step)) return `parked in ${standing.step}, whose row does not allow it`;
  if (!/cannot be known/.test(standing.step_error ?? '')) return `parked without its reason: ${standing.step_error}`;
  await court.system.operator.must('POST', `/temper/v1/runs/${run}/skip`, {
    reason: 'looked at the machine: as it should be',
  });
  const now = await court.settling(
    run,
    'go on',
    (next) => next.finished_at !== null || (next.state === 'parked' && next.step !== standing.step),
  );
  return now.state === 'parked' ? decided(court, run, now) : ending(now);
};

export const ending = ({ state, last_error }: Standing): string | undefined =>
  state === 'succeeded' ? undefined : `the run is ${state}: ${last_error}`;

export const twice = (commands: readonly string[]): string | undefined =>
  commands.length > 0 ? `heard too often: ${commands.join('; ')}` : undefined;

const judged = async (court: Court, runner: Runner, since: number): Promise<Outcome> => {
  const { system, settling } = court;
  const { bmc, verb, reference, mark, run } = runner;
  const standing = await settling(run!, 'end', (now) => now.finished_at !== null || now.state === 'parked');
  const seconds = (Date.now() - since) / 1_000;
  const parked = standing.state === 'parked';
  const end = parked ? await decided(court, run!, standing) : ending(standing);
  const heard = await heardSince(system, bmc, mark);
  const why = [
    twice(beyond(heard.once, reference.usual.once)),
    end,
    end ? undefined : await wrongWith(system, bmc, verb.rests),
    // Nothing may be left out either, unless a person let it be.
    parked || end ? undefined : lacking(beyond(reference.usual.once, heard.once)),
  ].find((one) => one !== undefined);
  const repeats = beyond(heard.harmless, reference.usual.harmless);
  return {
    is: why ? 'failed' : parked ? 'parked' : 'ended',
    ...(why && { why: `${why} (run ${run})` }),
    ...(parked && { asked: standing.step_error ?? '' }),
    seconds,
    repeats,
  };
};

export const lacking = (commands: readonly string[]): string | undefined =>
  commands.length > 0 ? `never heard: ${commands.join('; ')}` : undefined;

type Judging = (court: Court, runner: Runner, since: number) => Promise<Outcome>;

/** A judge that never throws: what cannot be judged has failed. */
export const safely =
  (judging: Judging): Judging =>
  async (court, runner, since) => {
    if (!runner.run) return { is: 'missed', why: runner.trouble, seconds: 0, repeats: [] };
    const outcome = await judging(court, runner, since).catch(
      (error: Error): Outcome => ({ is: 'failed', why: error.message, seconds: 0, repeats: [] }),
    );
    if (runner.place !== 'missed' || outcome.is === 'failed') return outcome;
    return { ...outcome, is: 'missed', why: runner.trouble };
  };

/** What became of a run since the blow. */
export const judge = safely(judged);
