/** Runs that are not disturbed, taken through the gate one exchange at a time: where kills can fall, and what is usual. */
import type { RackBmc } from '../../demo/system';
import { type Heard, heardSince, markOf } from './journals';
import { begin, prepare, wrongWith } from './nodes';
import { type Point, pointsOf, type Seen } from './points';
import type { System } from './system';
import { until } from './until';
import type { ChaosVerb } from './verbs';

export type Reference = { readonly points: readonly Point[]; readonly usual: Heard; readonly seconds: number };

/** By `verb on profile`. */
export type References = ReadonlyMap<string, Reference>;
export const keyOf = (verb: ChaosVerb, profile: string): string => `${verb.name} on ${profile}`;

/** Those of a verb, on whatever BMC. */
export const ofVerb = (references: References, verb: ChaosVerb): Reference[] =>
  [...references].filter(([key]) => key.startsWith(keyOf(verb, ''))).map(([, reference]) => reference);

/** Runs a verb to its end, noting every exchange. Throws where the run does not end well by itself. */
export const referenceOf = async (system: System, bmc: RackBmc, verb: ChaosVerb): Promise<Reference> => {
  await prepare(system, bmc, verb);
  const mark = await markOf(system, bmc);
  await system.rack.setGate(bmc.index, { after: 0 });
  const began = Date.now();
  const run = await begin(system, bmc, verb);
  const seen: Seen[] = [];
  const ended = await until(
    `${verb.name} of ${bmc.name} to end undisturbed`,
    async () => {
      const [gate, standing] = [(await system.rack.gates())[bmc.index], (await system.standing([run]))?.get(run)];
      if (!standing) return undefined;
      const held = gate?.held[0];
      if (gate && held) {
        const { begun, step, act } = standing;
        seen.push({ ...held, writes: gate.writes, begun, step: step ?? 'none', act: act ?? 'none' });
        await system.rack.stepGate(bmc.index);
      }
      return standing.finished_at || standing.state === 'parked' ? standing : undefined;
    },
    { everyMs: 20 },
  );
  await system.rack.openGate(bmc.index);
  const seconds = (Date.now() - began) / 1_000;
  const wrong = ended.state === 'succeeded' ? await wrongWith(system, bmc, verb.rests) : `the run is ${ended.state}`;
  if (wrong)
    throw new Error(
      `${verb.name} of ${bmc.name} (${bmc.profile}), undisturbed: ${wrong}: ${ended.last_error ?? ended.step_error}`,
    );
  return { points: pointsOf(seen), usual: await heardSince(system, bmc, mark), seconds };
};
