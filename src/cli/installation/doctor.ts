/** `temper doctor`: checks every part of an installation and advises on each failure. */
import type { Command } from 'commander';
import { ramdiskSourceOf } from '../../model/lifecycle/plan-boot';
import type { Recovery } from '../../wire/installation';
import type { Acting, Context } from '../context';
import type { DoctorCheck, Finding } from '../deps';
import { CliFault, exits } from '../faults';
import { plainText } from '../tables';

const signs = { ok: 'ok      ', failed: 'FAILED  ', skipped: 'skipped ' } as const;

type Conductor = {
  readonly hostname: string;
  readonly conductor_group: string;
  readonly alive: boolean;
  readonly drivers?: string[];
};

const todoOf: Readonly<Record<CliFault['exit'], string>> = {
  usage: 'Set TEMPER_URL and TEMPER_TOKEN, or OS_CLOUD.',
  unreachable: 'Is the API running, and is the address right? Look at its log and at /readyz on its health port.',
  refused: 'Are the credentials those of a system reader or operator?',
};

/** These credentials lack a right. The installation is not at fault. */
class NeedsOperator extends Error {}

const needsOperator = (thrown: unknown): never => {
  if (thrown instanceof CliFault && thrown.status === 403)
    throw new NeedsOperator("this needs an operator's rights, which these credentials do not have");
  throw thrown;
};

/** An error in a check becomes a finding. */
const findingOf = async ({ find }: DoctorCheck): Promise<Finding> => {
  try {
    return await find();
  } catch (thrown) {
    const says = plainText((thrown as Error).message);
    if (thrown instanceof NeedsOperator) return { is: 'skipped', says };
    return { is: 'failed', says, todo: thrown instanceof CliFault ? todoOf[thrown.exit] : 'Look at the log.' };
  }
};

const version: (context: Context) => DoctorCheck = ({ api }) => ({
  name: 'API',
  async find() {
    const { default_version: known } = (await api.send('GET', '/')) as {
      default_version?: { min_version?: string; version?: string };
    };
    return { is: 'ok', says: `${await api.where()} answers, versions ${known?.min_version} to ${known?.version}` };
  },
});

const access: (context: Context) => DoctorCheck = ({ api }) => ({
  name: 'access',
  async find() {
    const { nodes } = (await api.send('GET', '/v1/nodes?limit=1&fields=uuid')) as { nodes: unknown[] };
    return {
      is: 'ok',
      says: nodes.length > 0 ? 'these credentials see nodes' : 'these credentials are known, and see no nodes',
    };
  },
});

const recovery: (context: Context) => DoctorCheck = ({ api }) => ({
  name: 'recovery',
  async find() {
    const { recovery: held } = (await api.send('GET', '/temper/v1/recovery').catch(needsOperator)) as Recovery;
    if (!held) return { is: 'ok', says: 'nothing is held back' };
    return { is: 'failed', says: held.reason, todo: 'Run `temper recover`, then `temper recover --yes`.' };
  },
});

/** Page by page: a response holds at most a thousand nodes. */
const everyNode = async <Fields>({ api }: Context, fields: string): Promise<Fields[]> => {
  const all: (Fields & { readonly uuid: string })[] = [];
  for (let more = true; more; ) {
    const marker = all.at(-1)?.uuid;
    const page = (await api.send('GET', `/v1/nodes?fields=uuid,${fields}${marker ? `&marker=${marker}` : ''}`)) as {
      nodes: typeof all;
      next?: string;
    };
    all.push(...page.nodes);
    more = page.next !== undefined && page.nodes.length > 0;
  }
  return all;
};

const groupName = (group: string): string => group || '(default)';

const workers: (context: Context) => DoctorCheck = (context) => ({
  name: 'workers',
  async find() {
    const { conductors } = (await context.api.send('GET', '/v1/conductors?detail=true').catch(needsOperator)) as {
      conductors: Conductor[];
    };
    const nodes = await everyNode<{ readonly conductor_group: string }>(context, 'conductor_group');
    const alive = conductors.filter((one) => one.alive);
    const groups = [...new Set([...conductors, ...nodes].map((one) => one.conductor_group))].sort();
    const countOf = (group: string) => alive.filter((one) => one.conductor_group === group).length;
    const says = groups.map((group) => `${groupName(group)}: ${countOf(group)}`).join(', ') || 'there are none';
    const empty = groups.filter((group) => countOf(group) === 0);
    if (alive.length > 0 && empty.length === 0) return { is: 'ok', says };
    const names = empty.map(groupName).join(', ') || '(default)';
    return {
      is: 'failed',
      says,
      todo: `Start \`worker bmc\` for ${names}, with TEMPER_CONDUCTOR_GROUP set to the group.`,
    };
  },
});

type Booting = Parameters<typeof ramdiskSourceOf>[0];

const sourceName = (node: Booting): string => {
  const source = ramdiskSourceOf(node);
  if (source === null) return 'none';
  if (typeof source !== 'string') return plainText(source.record);
  return source === 'operator' ? 'what the operator serves' : 'TEMPER_DEFAULT_RAMDISK';
};

/** Nodes that use the installation's ramdisk are refused if none is set. */
const ramdisks: (context: Context) => DoctorCheck = (context) => ({
  name: 'ramdisks',
  async find() {
    const nodes = await everyNode<Booting>(context, 'driver,boot_interface,deploy_interface,driver_info');
    const counts = new Map<string, number>();
    for (const name of nodes.map(sourceName)) counts.set(name, (counts.get(name) ?? 0) + 1);
    const says = [...counts].sort().map(([name, count]) => `${name}: ${count}`);
    return { is: 'ok', says: says.join(', ') || 'no nodes' };
  },
});

const bmc = ({ api }: Context, node: string | undefined): DoctorCheck => ({
  name: node === undefined ? 'BMC' : `BMC of ${node}`,
  async find() {
    if (node === undefined) return { is: 'skipped', says: 'no node was named; give --node' };
    try {
      await api.send('GET', `/v1/nodes/${encodeURIComponent(node)}/management/boot_device`).catch(needsOperator);
      return { is: 'ok', says: 'answers' };
    } catch (thrown) {
      if (thrown instanceof NeedsOperator) throw thrown;
      const todo =
        'Is its address in driver_info right, its network in TEMPER_BMC_NETWORKS, and the account on the BMC as on record?';
      return { is: 'failed', says: plainText((thrown as Error).message), todo };
    }
  },
});

const printFinding = (name: string, finding: Finding): string => {
  const todo = finding.is === 'failed' ? `${' '.repeat(10)}-> ${plainText(finding.todo)}\n` : '';
  return `${signs[finding.is]}  ${plainText(name)}: ${plainText(finding.says)}\n${todo}`;
};

const examine = async (context: Context, { node }: { node?: string }): Promise<void> => {
  const checks = [
    version(context),
    access(context),
    workers(context),
    recovery(context),
    ramdisks(context),
    ...(context.deps.installation?.checks() ?? []),
    bmc(context, node),
  ];
  const findings: ({ name: string } & Finding)[] = [];
  // In parallel, because a timeout takes seconds; output keeps their order.
  for (const { name, finding } of checks.map((check) => ({ name: check.name, finding: findingOf(check) }))) {
    findings.push({ name, ...(await finding) });
    if (!context.json) context.deps.out(printFinding(name, await finding));
  }
  const failed = findings.filter(({ is }) => is === 'failed').length;
  context.print({ findings }, () =>
    failed === 0 ? 'Nothing is wrong.\n' : `${failed} of ${findings.length} failed.\n`,
  );
  context.end(failed === 0 ? exits.ok : exits.refused);
};

export const addDoctor = (program: Command, acting: Acting): void => {
  program
    .command('doctor')
    .description(
      'look at API, access, workers and, where the environment holds the settings of the processes, at database, Temporal and policy',
    )
    .option('--node <node>', 'also ask the BMC of this node')
    .action(acting(examine));
};
