/** What was found out about a fleet, and how it is printed. */
import type { TenantFigures } from './fleet-tenant';
import { amount, ms, rate, table } from './table';

/** The name of the bench's own process among the others. */
export const emulated = 'emulated BMCs';

/** Nodes of the tenant. */
export const ofTenant = 100;

/** What was done to so many nodes, and how the tenant fared meanwhile. */
export type FleetStage = {
  readonly stage: string;
  readonly nodes: number;
  readonly seconds: number;
  readonly per_s: number;
  readonly failed: number;
  /** Seconds of a run from its start to its end. */
  readonly run_p50_s?: number;
  readonly run_p99_s?: number;
  /** Cores that each kind of process used; empty where the machine does not tell. */
  readonly cores: Readonly<Record<string, number>>;
  readonly tenant: TenantFigures;
};
export type FleetFigures = {
  readonly nodes: number;
  /** Of the emulated BMC's, on the heap. */
  readonly bmc_kb: number;
  readonly idle: TenantFigures;
  readonly stages: readonly FleetStage[];
  /** BMCs that were asked at least once while nothing but looks went on, of so many that could be, in each of some stretches: the fewest. */
  readonly looked_at: LookedAt;
  /** Workers that were killed during the rollout. */
  readonly killed: number;
  /** Its nodes that were begun a second. */
  readonly begun_per_s: number;
};
export type LookedAt = {
  readonly asked: number;
  readonly of: number;
  readonly stretch_s: number;
  readonly stretches: number;
  readonly requests: number;
  readonly cores: FleetStage['cores'];
};

const whole = 100_000;
const minutesForAll = ({ per_s }: FleetStage): number => whole / per_s / 60;

/** Of the stage of that name, minutes for 100,000 nodes; NaN where there was none. */
export const projectedMinutes = ({ stages }: FleetFigures, names: readonly string[]): number =>
  names.reduce((sum, wanted) => {
    const found = stages.find(({ stage }) => stage === wanted);
    return sum + (found ? minutesForAll(found) : Number.NaN);
  }, 0);

/** Processor ms of Temper, its stores and its engine for each node; unknown where a worker was killed meanwhile. */
const cpuOf = ({ cores, per_s }: FleetStage): string => {
  if (!('worker-control' in cores && 'worker-bmc' in cores)) return '-';
  const own = Object.entries(cores).filter(([process]) => process !== emulated);
  return ms((own.reduce((sum, [, used]) => sum + used, 0) / per_s) * 1_000);
};

const tenantCells = (found: TenantFigures): string[] => [
  `${ms(found.list_p50)} / ${ms(found.list_p99)}`,
  `${ms(found.power_p50)} / ${ms(found.power_p99)}`,
  `${found.lists}, ${found.switches}`,
];

const coresText = (cores: FleetStage['cores']): string =>
  Object.entries(cores)
    .filter(([, used]) => used >= 0.05)
    .map(([process, used]) => `${process} ${used.toFixed(2)}`)
    .join(', ');

export const fleetTables = ({
  nodes,
  bmc_kb,
  idle,
  stages,
  looked_at,
  killed,
  begun_per_s,
}: FleetFigures): string[] => [
  `A fleet of ${nodes.toLocaleString('en')} Redfish BMCs, ${bmc_kb.toFixed(1)} kB of heap each; a tenant lists its ${ofTenant} nodes and switches one, ms at p50 / p99`,
  table(
    [
      'stage',
      'nodes',
      'seconds',
      '/s',
      `minutes for ${whole.toLocaleString('en')}`,
      'failed',
      'cpu ms a node',
      'a run, s',
      'list',
      'switch',
      'of them',
    ],
    [
      ['idle', '', '', '', '', '', '', '', ...tenantCells(idle)],
      ...stages.map((stage) => [
        stage.stage,
        String(stage.nodes),
        amount(stage.seconds),
        rate(stage.per_s),
        minutesForAll(stage).toFixed(1),
        String(stage.failed),
        cpuOf(stage),
        stage.run_p50_s === undefined ? '' : `${stage.run_p50_s.toFixed(1)} / ${stage.run_p99_s?.toFixed(1)}`,
        ...tenantCells(stage.tenant),
      ]),
    ],
  ),
  ...stages.map(({ stage, cores }) => `  cores, ${stage}: ${coresText(cores)}`),
  `Looks at power: ${looked_at.asked} of ${looked_at.of} BMCs at least were asked within ${looked_at.stretch_s} s, ${looked_at.stretches} times; ${looked_at.requests} requests; cores: ${coresText(looked_at.cores)}`,
  `The rollout began ${rate(begun_per_s)} nodes a second; ${killed} workers were killed meanwhile`,
];
