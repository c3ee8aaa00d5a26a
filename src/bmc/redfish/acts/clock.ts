/** Clock of the BMC, which falls back to 1970 after a fault. */
import { raise } from '../../../model/errors';
import type { ActOutcome } from '../../../model/runs/runs';
import { textOf } from '../../../model/texts';
import type { Announced } from '../../announce';
import { converge } from '../../converge';
import { findManager, findSystem } from '../discovery/discovery';
import { ManagerClock } from '../jobs/job-resources';
import type { Client } from '../transport/client';

const clockStep = 'management.set_bmc_clock';
const what = 'set the clock of the BMC';

/** One second of tolerance, and one that BMCs cut off. */
const toleranceMs = 2_000;

type ClockObserved = { readonly clock: ManagerClock; readonly from: number; readonly to: number };

const minutesOf = (offset: string): number => {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? [];
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
};

const offsetIn = (given: unknown): string | undefined => {
  if (given === undefined) return undefined;
  const offset = given === 'Z' ? '+00:00' : textOf(given);
  if (/^[+-]([01]\d|2[0-3]):[0-5]\d$/.test(offset)) return offset;
  return raise('InvalidStepArgs', { step: clockStep, reason: 'argument datetime_local_offset must look like +02:00' });
};

const targetIn = (given: unknown): number | undefined => {
  if (given === undefined) return undefined;
  // A time without an offset is UTC.
  const text = /(Z|[+-]\d\d:?\d\d)$/i.test(textOf(given)) ? textOf(given) : `${textOf(given)}Z`;
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  return raise('InvalidStepArgs', {
    step: clockStep,
    reason: 'argument target_datetime must be ISO 8601, such as 2026-03-01T12:00:00Z',
  });
};

/** Formats whole seconds, as some BMCs refuse fractions. */
const spell = (ms: number, offset: string): string =>
  `${new Date(ms + minutesOf(offset) * 60_000).toISOString().slice(0, 19)}${offset}`;

const knownOffset = ({ DateTimeLocalOffset }: ManagerClock): string =>
  /^[+-]\d\d:\d\d$/.test(DateTimeLocalOffset ?? '') ? DateTimeLocalOffset! : '+00:00';

/** Default is now, in UTC. Throws InvalidStepArgs, BmcUnsupported, and converge's errors. */
export const setBmcClock = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const target = targetIn(args.target_datetime);
  const offset = offsetIn(args.datetime_local_offset);
  const { value: system } = await (await findSystem(client)).look();
  const { path } = await findManager(client, system);
  const look = async (): Promise<ClockObserved> => {
    const from = Date.now();
    const { value: clock } = await client.get(path, ManagerClock);
    return { clock, from, to: Date.now() };
  };
  if ((await look()).clock.DateTime === undefined) return raise('BmcUnsupported', client.facts({ what: 'a clock' }));
  /** Epoch time of the command, for which the given time was meant. */
  const sentAt = ({ sentAt: at }: Announced): number => Date.now() - (performance.now() - at);
  // A BMC that is slow to set its clock is behind by as much.
  let tookMs = 0;
  const reached = ({ clock, from, to }: ClockObserved, announced: Announced | undefined): boolean => {
    const ahead = target === undefined ? 0 : target - (announced ? sentAt(announced) : from);
    const shows = Date.parse(clock.DateTime ?? '');
    const inTime = shows >= from + ahead - toleranceMs - tookMs && shows <= to + ahead + toleranceMs;
    return inTime && (offset === undefined || offset === clock.DateTimeLocalOffset);
  };
  const { state, sent } = await converge<ClockObserved>(client, {
    what,
    desired: { clock: target ?? 'now', offset: offset ?? null, path },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look,
    reached,
    show: ({ clock }) => `${clock.DateTime}`,
    act: async ({ clock }) => {
      const zone = offset ?? knownOffset(clock);
      const body = { DateTime: spell(target ?? Date.now(), zone), ...(offset && { DateTimeLocalOffset: offset }) };
      const began = performance.now();
      try {
        return await client.patch(path, body, what);
      } finally {
        tookMs = performance.now() - began;
      }
    },
    again: 'next attempt',
  });
  return { is: 'done', note: sent ? `the clock shows ${state.clock.DateTime}` : 'the clock was right' };
};
