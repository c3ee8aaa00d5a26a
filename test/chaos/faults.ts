/** The catalogue of misbehaving BMCs, one run each: what the run did, how long it took, and whether it may end so. */
import { dirname, join } from 'node:path';
import type { Json, RackBmc } from '../../demo/system';
import { type FaultRow, faultRows, raidConfig, stepsFor } from './fault-rows';
import { heardSince, markOf } from './journals';
import { bring } from './nodes';
import { shuffled } from './random';
import type { System } from './system';
import { until } from './until';
import { settingOf, step } from './verbs';

export type FaultResult = {
  readonly row: FaultRow;
  readonly profile: string;
  readonly state: string;
  readonly seconds: number;
  /** Attempts of steps beyond the first. */
  readonly more: number;
  readonly told: string | null;
  /** What should not be; undefined where all is well. */
  readonly wrong?: string;
};

// The BIOS is waited for as long as a start may take, and no fault shortens that.
const biosTimeoutS = 60;
const endsWithinMs = 300_000;

const cleanOf = ({ work }: FaultRow, bmc: RackBmc): object => ({
  target: 'clean',
  clean_steps: stepsFor(work, {
    ...step('bios.apply_configuration', { settings: [settingOf(bmc.profile)] }),
    temper: { timeout: biosTimeoutS },
  }),
});

const ask = async ({ operator }: System, row: FaultRow, bmc: RackBmc): Promise<void> => {
  const [path, body] =
    row.work === 'soft power off'
      ? ['power', { target: 'soft power off', timeout: 5 }]
      : ['provision', cleanOf(row, bmc)];
  await operator.must('PUT', `/v1/nodes/${bmc.name}/states/${path}`, body);
};

const runOf = async ({ operator }: System, bmc: RackBmc): Promise<Json> =>
  (await operator.must('GET', `/temper/v1/nodes/${bmc.name}/runs?limit=1`)).runs[0];

const prepare = async (system: System, row: FaultRow, bmc: RackBmc, file: string): Promise<void> => {
  // Before the node is looked at for the first time, so that the record knows of its power.
  await system.rack.renew(bmc.index, 'On');
  await bring(system, bmc, 'manageable');
  await system.operator.must('PUT', `/v1/nodes/${bmc.name}/states/raid`, raidConfig);
  if (row.meanwhile?.does === 'rotate') {
    const value = (key: string, text: unknown) => ({ op: 'add', path: `/driver_info/${key}`, value: text });
    await system.operator.must('PATCH', `/v1/nodes/${bmc.name}`, [
      value('redfish_address', bmc.secureAddress),
      value('redfish_verify_ca', join(dirname(file), 'rack', 'rack-cert.pem')),
    ]);
  }
};

const isPowerCommand = ({ write, path }: { write: boolean; path: string }): boolean =>
  write && path.endsWith('/ComputerSystem.Reset');

/** What happens in the middle: the gate lets one pass at a time until the power command that is meant stands there. */
const interfere = async (system: System, { meanwhile }: FaultRow, bmc: RackBmc): Promise<void> => {
  if (!meanwhile) return;
  let left = meanwhile.after;
  await until(
    `a power command to ${bmc.name}`,
    async () => {
      const [held] = (await system.rack.gates())[bmc.index]!.held;
      if (!held) return false;
      if (isPowerCommand(held) && left-- === 0) return true;
      await system.rack.stepGate(bmc.index);
      return false;
    },
    { everyMs: 50 },
  );
  if (meanwhile.does === 'press') await system.rack.press(bmc.index);
  else await system.rack.rotate();
  await system.rack.openGate(bmc.index);
};

/** Nothing that may harm came twice, and what is recorded is what the machine shows. */
const wrongAfter = async (
  system: System,
  row: FaultRow,
  bmc: RackBmc,
  run: Json,
  once: ReadonlyMap<string, number>,
) => {
  const twice = [...once].filter(([, times]) => times > 1).map(([command]) => command);
  if (twice.length > 0) return `twice: ${twice.join('; ')}`;
  if (!row.ends.includes(run.state)) return `ended ${run.state}: ${run.last_error ?? run.waiting_for}`;
  if (run.state !== 'succeeded') return run.last_error || run.waiting_for ? undefined : 'gives no reason';
  const { power_state } = await system.operator.must('GET', `/v1/nodes/${bmc.name}/states`);
  const shows = `power ${(await system.rack.state(bmc.index)).power.shows}`.toLowerCase();
  return power_state === shows ? undefined : `the record says ${power_state}, the machine ${shows}`;
};

const oneFault = async (system: System, row: FaultRow, bmc: RackBmc, file: string): Promise<FaultResult> => {
  await prepare(system, row, bmc, file);
  const mark = await markOf(system, bmc);
  if (row.meanwhile) await system.rack.setGate(bmc.index, { after: 0 });
  for (const fault of row.faults) await system.rack.fault(bmc.index, fault);
  const began = Date.now();
  await ask(system, row, bmc);
  await interfere(system, row, bmc);
  const run = await until(
    `${row.says} to end`,
    async () => {
      const now = await runOf(system, bmc);
      return now.finished_at || now.state === 'parked' ? now : undefined;
    },
    { withinMs: endsWithinMs },
  );
  const seconds = (Date.now() - began) / 1_000;
  const { once } = await heardSince(system, bmc, mark);
  const wrong = await wrongAfter(system, row, bmc, run, once);
  const parkedStep = run.steps.find(({ state }: Json) => state === 'parked');
  return {
    row,
    profile: bmc.profile,
    state: run.state,
    seconds,
    more: run.steps.reduce((sum: number, { attempts }: Json) => sum + Math.max(0, attempts - 1), 0),
    told: run.last_error ?? parkedStep?.last_error ?? null,
    ...(wrong && { wrong }),
  };
};

const failed = (row: FaultRow, profile: string, error: Error): FaultResult => ({
  row,
  profile,
  state: 'unknown',
  seconds: 0,
  more: 0,
  told: null,
  wrong: error.message,
});

/** All rows, each on a BMC of its own; those that want a kind of BMC choose first. The change of certificates is for all, so it comes last. */
export const runFaults = async (
  system: System,
  file: string,
  random: () => number,
  say: (line: string) => void,
): Promise<FaultResult[]> => {
  const free = shuffled(system.bmcs, random);
  const take = ({ profile }: FaultRow): RackBmc | undefined => {
    const at = free.findIndex((bmc) => profile === undefined || bmc.profile === profile);
    return at < 0 ? undefined : free.splice(at, 1)[0];
  };
  const places = new Map<FaultRow, RackBmc | undefined>();
  for (const row of [...faultRows].sort((a, b) => Number(!a.profile) - Number(!b.profile))) places.set(row, take(row));
  const one = async (row: FaultRow): Promise<FaultResult> => {
    const bmc = places.get(row);
    if (!bmc) return failed(row, row.profile ?? 'any', new Error('no BMC left for it: give the rack more --nodes'));
    const result = await oneFault(system, row, bmc, file).catch((error: Error) => failed(row, bmc.profile, error));
    say(
      `${result.wrong ? '!' : ' '} ${row.row} ${row.says} (${bmc.profile}): ${result.state}, ${result.seconds.toFixed(0)} s, ${result.wrong ?? result.told ?? ''}`,
    );
    return result;
  };
  const isLast = ({ meanwhile }: FaultRow): boolean => meanwhile?.does === 'rotate';
  const results = await Promise.all(faultRows.filter((row) => !isLast(row)).map(one));
  for (const row of faultRows.filter(isLast)) results.push(await one(row));
  return results;
};

const clean = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ').slice(0, 300);

const did = ({ state, more, told }: FaultResult): string => {
  const retried = more > 0 ? `, after ${more} more attempts` : '';
  return `${state}${retried}${told && state !== 'succeeded' ? `: ${clean(told)}` : ''}`;
};

/** The table for reports/chaos.md. */
export const faultTable = (results: readonly FaultResult[]): string[] => [
  '| # | the BMC | of kind | the run | did | took |',
  '| --- | --- | --- | --- | --- | --- |',
  ...results.map((result) => {
    const { row, profile, seconds, wrong } = result;
    const end = wrong ? `**wrong**: ${clean(wrong)}` : did(result);
    return `| ${row.row} | ${row.says} | ${profile} | ${row.work} | ${end} | ${seconds.toFixed(0)} s |`;
  }),
];
