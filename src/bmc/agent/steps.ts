/** The ramdisk's steps: listing and running them. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { asDocument, isDocument } from '../../model/document';
import { raise } from '../../model/errors';
import type { ReportedStep } from '../../model/lifecycle/step-types';
import type { ActOutcome } from '../../model/runs/runs';
import { tidyText } from '../texts';
import type { AgentClient } from './client';
import { askAgent, runCommand } from './command';
import { nodeDocument, portDocuments } from './document';
import type { Command } from './replies';

type StepKind = 'clean' | 'deploy' | 'service';

/** Runs of other kinds use clean steps. */
const stepKinds: Readonly<Record<string, StepKind>> = { deploy: 'deploy', rebuild: 'deploy', service: 'service' };
const stepKindOf = ({ context }: AgentClient): StepKind => stepKinds[context.kind ?? ''] ?? 'clean';

// Control characters in a name would break the display.
const short = z
  .string()
  .max(255)
  .transform((text) => tidyText(text) ?? '')
  .pipe(z.string().min(1));
const Arg = z.looseObject({ description: z.string().nullish(), required: z.boolean().nullish() });
const ReportedEntry = z.looseObject({
  interface: short,
  step: short,
  priority: z.coerce.number().int().min(0).max(1_000_000),
  abortable: z.boolean().nullish(),
  reboot_requested: z.boolean().nullish(),
  argsinfo: z.record(short, Arg).nullish(),
});
type ReportedEntry = z.infer<typeof ReportedEntry>;

const mostEntries = 1_000;
const Steps = z.union([
  z.array(ReportedEntry).max(mostEntries),
  z.record(z.string(), z.array(ReportedEntry).max(mostEntries)).transform((by) => Object.values(by).flat()),
]);
const Version = z.record(z.string(), z.unknown());

const longestText = 500;

const argsinfoOf = (step: ReportedEntry): ReportedStep['argsinfo'] =>
  step.argsinfo &&
  Object.fromEntries(
    Object.entries(step.argsinfo).map(([name, { description, required }]) => [
      name,
      {
        ...(description && { description: tidyText(description, longestText) ?? '' }),
        ...(required && { required }),
      },
    ]),
  );

const reportedOf = (step: ReportedEntry): ReportedStep => ({
  interface: step.interface,
  step: step.step,
  priority: step.priority,
  ...(step.abortable && { abortable: true }),
  ...(step.reboot_requested && { reboot_requested: true }),
  ...(step.argsinfo && { argsinfo: argsinfoOf(step) }),
});

type AgentStepListed = {
  readonly steps: readonly ReportedStep[];
  readonly version: Record<string, unknown> | undefined;
};

const listSteps = async (client: AgentClient): Promise<AgentStepListed> => {
  const kind = stepKindOf(client);
  const name = `${kind}.get_${kind}_steps`;
  const params = () => ({ node: nodeDocument(client.node), ports: portDocuments(client.node) });
  const { command_result } = await askAgent(client, { name, what: 'the question for its steps', params });
  const Shape = z.object({ [`${kind}_steps`]: Steps, hardware_manager_version: Version.nullish() });
  const result = Shape.safeParse(command_result);
  if (!result.success) {
    const reason = `its list of steps makes no sense at ${result.error.issues[0]?.path.join('.') || 'the top'}`;
    return raise('AgentServerError', client.facts({ status: 200, reason }));
  }
  const { hardware_manager_version: version, [`${kind}_steps`]: steps } = result.data;
  const flat = steps as ReportedEntry[];
  if (flat.length > mostEntries)
    raise('AgentServerError', client.facts({ status: 200, reason: `it lists more than ${mostEntries} steps` }));
  return { steps: flat.map(reportedOf), version: (version as AgentStepListed['version']) ?? undefined };
};

export const agentSteps = async (client: AgentClient): Promise<ActOutcome> => {
  const { steps } = await listSteps(client);
  return { is: 'done', note: `the ramdisk offers ${steps.length} steps`, reported: steps };
};

type AgentStepArgs = Readonly<Record<string, unknown>>;

/** Throws StepRejected if the ramdisk has no such step. */
const stepFor = async (client: AgentClient, args: AgentStepArgs) => {
  const wanted =
    client.context.step ??
    raise('StepRejected', client.facts({ step: 'of the ramdisk', reason: 'the plan names none' }));
  const { steps, version } = await listSteps(client);
  const known = steps.find((one) => one.interface === wanted.interface && one.step === wanted.step);
  if (!known) {
    const names = steps.map((one) => `${one.interface}.${one.step}`).join(', ');
    const step = `${wanted.interface}.${wanted.step}`;
    return raise(
      'StepRejected',
      client.facts({ step, reason: `the ramdisk has no such step; it has: ${names || 'none'}` }),
    );
  }
  const { argsinfo: _, ...row } = known;
  return { step: { ...row, args }, version };
};

/** A step that requests a reboot is done only after it. */
export const agentStep = async (client: AgentClient, args: AgentStepArgs): Promise<ActOutcome> => {
  const kind = stepKindOf(client);
  const { step } = client.context;
  const name = `${kind}.execute_${kind}_step`;
  const same = (command: Command): boolean => {
    const ran = command.command_result?.[`${kind}_step`];
    return (
      isDocument(ran) &&
      ran.interface === step?.interface &&
      ran.step === step?.step &&
      isDeepStrictEqual(ran.args ?? {}, args)
    );
  };
  const command = await runCommand(client, {
    name,
    what: step ? `${step.interface}.${step.step}` : 'the step',
    identity: [step?.interface, step?.step, args],
    effect: 'once',
    fits: same,
    params: async () => {
      const { step: sent, version } = await stepFor(client, args);
      const about = { node: nodeDocument(client.node), ports: portDocuments(client.node) };
      return { step: sent, ...about, ...(version && { [`${kind}_version`]: version }) };
    },
  });
  if (!same(command))
    raise('StepOutcomeUnknown', client.facts({ step: name, reason: 'the result is that of another step' }));
  return outcomeOf(kind, command);
};

const outcomeOf = (kind: StepKind, { command_result }: Command): ActOutcome => {
  const ran = asDocument(command_result?.[`${kind}_step`]);
  const result = command_result?.[`${kind}_result`];
  return {
    is: 'done',
    note: 'the ramdisk says it is done',
    ...(ran.reboot_requested === true && { follows: 'reboot' }),
    ...(ran.interface === 'raid' && isDocument(result) && { seen: { raid_config: result } }),
  };
};
