/** Many emulated BMCs that fail now and then, all cleaned at once: what became of them, and how gently each was treated. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RackBmc, Traffic } from '../emulator/rack';
import { courtesyFor } from '../src/bmc/quirks';
import { startHelper } from './child';
import { lastRuns, repeatedAttempts } from './ended';
import { askAll, counted, enrol, type Herd, settled } from './nodes';
import type { RackAnswer, RackQuestion } from './rack-host';
import { median, percentile } from './stats';
import type { System } from './system';

/** One in fifty requests fails; of the writes one in fifty more is done, and its answer is lost. */
const faults = [
  { kind: 'http-503', share: 0.01, retryAfter: 1 },
  { kind: 'drop-before', share: 0.01 },
  { kind: 'drop-after-write', share: 0.02 },
] as const;
const allDay = { seconds: 86_400 } as const;

const cleanSteps = [
  { interface: 'management', step: 'set_boot_device', args: { boot_device: 'disk' } },
  { interface: 'management', step: 'set_indicator', args: { state: 'on' } },
  { interface: 'power', step: 'reboot' },
] as const;

/** How the BMCs of one vendor were treated, the worst of them, beside what may be. */
type Treated = {
  readonly vendor: string;
  readonly bmcs: number;
  readonly requests: number;
  readonly most_at_once: number;
  readonly at_once_limit: number;
  readonly most_beside_a_write: number;
  readonly most_in_a_second: number;
  /** Null where only the number at once is limited. */
  readonly in_a_second_limit: number | null;
};

export type RackTimes = {
  readonly bmcs: number;
  /** From the first request to clean until no node was on its way; the requests themselves; and verifying before. */
  readonly seconds: number;
  readonly asked_s: number;
  readonly verified_s: number;
  /** Of one cleaning, from its start to its end: the median, and what all but one in a hundred stay below. */
  readonly run_s: number;
  readonly run_p99_s: number;
  /** Nodes by the state they ended in: `manageable` is cleaned. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
  readonly requests: number;
  readonly writes: number;
  readonly writes_struck: number;
  /** Attempts of acts that failed and were made again, in all runs of these nodes. */
  readonly repeated: number;
  readonly treated: readonly Treated[];
  readonly above_limit: number;
};

export const measureRack = async (
  system: System,
  { bmcs: count }: { readonly bmcs: number },
  say: (line: string) => void,
): Promise<RackTimes> => {
  const dir = mkdtempSync(join(tmpdir(), 'temper-bench-rack-'));
  const host = startHelper<RackQuestion, RackAnswer>('rack-host', [dir]);
  try {
    const { bmcs } = await host.ask({ is: 'open', bmcs: count, faults: faults.map((one) => ({ ...one, ...allDay })) });
    const herd = await enrol(system, 'bench-rack', count, (index) => recordOf(bmcs[index]!));
    const verified_s = await verified(system, herd);
    say(`${count} BMCs verified in ${verified_s.toFixed(0)} s`);
    const began = performance.now();
    await askAll(system, herd, { target: 'clean', clean_steps: cleanSteps });
    const asked_s = (performance.now() - began) / 1_000;
    const nodes = await settled(system, herd, ({ provision_state }) => /^clean(ing| wait)$/.test(provision_state));
    const seconds = (performance.now() - began) / 1_000;
    const outcomes = counted(nodes);
    say(`${count} BMCs cleaned in ${seconds.toFixed(0)} s: ${JSON.stringify(outcomes)}`);
    const seen = await host.ask({ is: 'look' });
    const runs = await lastRuns(system, herd, 'clean');
    const treated = treatedOf(bmcs, seen.traffic);
    return {
      bmcs: count,
      seconds,
      asked_s,
      verified_s,
      run_s: median(runs),
      run_p99_s: percentile(runs, 0.99),
      outcomes,
      errors: [...new Set(nodes.flatMap(({ last_error }) => last_error ?? []))].slice(0, 10),
      requests: seen.traffic.reduce((sum, { requests }) => sum + requests, 0),
      writes: seen.writes,
      writes_struck: seen.struck,
      repeated: await repeatedAttempts(system, herd),
      treated,
      above_limit: bmcs.filter((bmc, at) => isAbove(bmc, seen.traffic[at]!)).length,
    };
  } finally {
    await host.stop();
    rmSync(dir, { recursive: true, force: true });
  }
};

const recordOf = (bmc: RackBmc): object => ({
  driver: 'redfish',
  driver_info: {
    redfish_address: bmc.address,
    redfish_system_id: bmc.systemId,
    redfish_username: bmc.username,
    redfish_password: bmc.password,
  },
});

/** Brings all to manageable; those that a fault has kept from it are asked again. @returns seconds */
const verified = async (system: System, herd: Herd): Promise<number> => {
  const began = performance.now();
  let left = herd;
  for (let round = 0; left.uuids.length > 0; round++) {
    if (round === 5) throw new Error(`${left.uuids.length} BMCs cannot be verified`);
    await askAll(system, left, { target: 'manage' });
    const nodes = await settled(system, herd, ({ provision_state }) => provision_state === 'verifying');
    const again = nodes.filter(({ provision_state }) => provision_state === 'enroll');
    left = { ...herd, uuids: again.map(({ uuid }) => uuid) };
  }
  return (performance.now() - began) / 1_000;
};

/** What any second may hold: one at its beginning, and one more each time the pause is over. */
const perSecond = (vendor: string): number | null => {
  const { spacingMs } = courtesyFor(vendor);
  return spacingMs === 0 ? null : Math.ceil(1_000 / spacingMs) + 1;
};

const isAbove = ({ vendor }: RackBmc, seen: Traffic): boolean =>
  seen.most_at_once > courtesyFor(vendor).reads ||
  seen.most_beside_a_write > 1 ||
  seen.most_in_a_second > (perSecond(vendor) ?? Number.POSITIVE_INFINITY);

const treatedOf = (bmcs: readonly RackBmc[], traffic: readonly Traffic[]): Treated[] =>
  [...new Set(bmcs.map(({ vendor }) => vendor))].map((vendor) => {
    const theirs = traffic.filter((_, at) => bmcs[at]!.vendor === vendor);
    const most = (of: (seen: Traffic) => number) => Math.max(...theirs.map(of));
    return {
      vendor,
      bmcs: theirs.length,
      requests: theirs.reduce((sum, { requests }) => sum + requests, 0),
      most_at_once: most((seen) => seen.most_at_once),
      at_once_limit: courtesyFor(vendor).reads,
      most_beside_a_write: most((seen) => seen.most_beside_a_write),
      most_in_a_second: most((seen) => seen.most_in_a_second),
      in_a_second_limit: perSecond(vendor),
    };
  });
