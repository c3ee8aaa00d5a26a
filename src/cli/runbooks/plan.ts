/** `temper plan`: dry run of a request on a node, with every reason to refuse it. */
import type { Command } from 'commander';
import { type Document, isDocument } from '../../model/document';
import type { NodePlan } from '../../wire/runs';
import type { Acting, Context } from '../context';
import { exits, stop } from '../faults';
import { collect } from '../options';
import { clock } from '../spans';
import { plainText, table } from '../tables';
import { documentIn } from './documents';
import { parametersOf } from './parameters';

type PlanOptions = {
  readonly runbook?: string;
  readonly verb?: string;
  readonly file?: string;
  readonly reason?: string;
  readonly param?: readonly string[];
};

const times = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const erasesText = (erases: boolean | null): string => {
  if (erases === null) return 'whether data is erased is not known';
  return erases ? 'data on its disks is erased' : 'nothing is erased';
};

const timeText = ({ expected_ms, p95_ms }: NodePlan): string =>
  expected_ms === null || p95_ms === null
    ? 'how long it takes is not known yet'
    : `about ${clock(expected_ms)} (p95 ${clock(p95_ms)})`;

const headOf = ({ node_name, node_uuid, provision_state, verb, runbook }: NodePlan): string => {
  const revision = runbook?.revision ? `, revision ${runbook.revision}` : '';
  const by = runbook ? ` by runbook ${runbook.name}${revision}` : '';
  return plainText(`${node_name ?? node_uuid} (${provision_state}): ${verb}${by}. Nothing was touched.`);
};

const stepsText = ({ steps }: NodePlan, width: number | undefined): string =>
  steps.length === 0
    ? ''
    : `${table(
        ['#', 'STEP', 'POWER', 'ERASES', 'USUALLY', 'ARGUMENTS'],
        steps.map((step) => [
          step.index,
          `${step.interface}.${step.step}`,
          step.power_cycles,
          step.erases === null ? 'unknown' : step.erases ? 'yes' : 'no',
          step.expected_ms === null ? '-' : clock(step.expected_ms),
          step.args === null ? 'not yours to see' : Object.keys(step.args).length === 0 ? '-' : step.args,
        ]),
        width,
      )}${times(steps.length, 'step')}, at most ${times(
        steps.reduce((sum, { power_cycles }) => sum + power_cycles, 0),
        'power cycle',
      )}, `;

const reasonsText = (heading: string, reasons: NodePlan['refusals'], width: number | undefined): string =>
  reasons.length === 0
    ? ''
    : `\n${heading}\n${table(
        ['WHY', 'STATUS', 'RULE', 'SAYS'],
        reasons.map(({ code, status, rule, reason }) => [code, status, rule ?? '-', reason]),
        width,
      )}`;

const verdictOf = ({ would_run, refusals }: NodePlan): string =>
  would_run ? 'It would be accepted.' : `It would be refused, for ${times(refusals.length, 'reason')}.`;

const planText = (plan: NodePlan, width: number | undefined): string =>
  [
    `${headOf(plan)}\n${verdictOf(plan)}\n`,
    plan.steps.length === 0 ? '' : `\n${stepsText(plan, width)}${erasesText(plan.erases)}, ${timeText(plan)}.\n`,
    plan.firmware === null || plan.firmware.length === 0
      ? ''
      : `\n${table(
          ['COMPONENT', 'HAS', 'WANTED'],
          plan.firmware.map(({ component, current, wanted }) => [component, current ?? 'unknown', wanted]),
          width,
        )}`,
    reasonsText('Refused:', plan.refusals, width),
    reasonsText('Before it begins:', plan.concerns, width),
  ].join('');

/** Reads JSON or YAML. Throws CliFault (usage). */
const bodyIn = ({ deps }: Context, path: string): Document => {
  const body = documentIn(deps, path);
  return isDocument(body) ? body : stop('usage', `${path} holds no provision request: an object with a target.`);
};

const planNode = async (context: Context, node: string, given: PlanOptions): Promise<void> => {
  const { runbook, verb, file, reason, param } = given;
  if (param && runbook === undefined && file === undefined) stop('usage', '--param is for a --runbook.');
  if (runbook === undefined && verb === undefined && file === undefined)
    stop('usage', 'Give --runbook, --verb, or --file with the body of a provision request.');
  const body = {
    ...(file !== undefined && bodyIn(context, file)),
    ...(verb !== undefined && { target: verb }),
    ...(runbook !== undefined && { runbook }),
    ...(param && { temper: { parameters: parametersOf(param) } }),
  };
  const path = `/temper/v1/nodes/${encodeURIComponent(node)}/plan`;
  const headers: Record<string, string> = reason === undefined ? {} : { 'X-Temper-Reason': reason };
  const planned = (await context.api.send('POST', path, body, headers)) as NodePlan;
  context.print(planned, (value) => planText(value, context.width));
  context.end(planned.would_run ? exits.ok : exits.refused);
};

export const addPlan = (program: Command, acting: Acting): void => {
  program
    .command('plan')
    .description('what would run on a node, and everything that refuses it; fails if it would be refused')
    .argument('<node>', 'UUID or name of a node')
    .option('--runbook <runbook>', 'UUID or name of a runbook')
    .option('--param <name=value>', 'a parameter of the runbook; may come several times', collect)
    .option('--verb <verb>', 'clean, service, provide, ...; what the node’s state admits if a runbook is given')
    .option('--file <path>', 'the body of a provision request, JSON or YAML')
    .option('--reason <text>', 'why a project’s private runbook runs on another project’s node')
    .action(acting(planNode));
};
