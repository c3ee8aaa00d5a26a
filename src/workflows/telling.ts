/** How a run reads in the engine's UI: the label of a step, and the list with ticks. */
import type { PlannedStep } from '../model/lifecycle/step-types';

import { nameOf } from '../model/lifecycle/steps';
import type { RunInput } from '../model/runs/runs';
import type { Here } from './here';

/** `3/5 power.reboot` */
export const label = (here: Here, step: PlannedStep): string =>
  `${step.index + 1}/${here.steps.length} ${nameOf(step)}${step.on ? ` on ${step.on.name ?? step.on.node_uuid}` : ''}`;

const ticks: Readonly<Record<string, string>> = {
  before: '✓',
  parked: '?',
  waiting: '…',
  running: '▶',
  failed: '✗',
  aborted: '✗',
};

/** What a person can do about a parked run, here and where it is known who they are. */
const choices = (run: RunInput, here: Here): string =>
  [
    `Decide by \`temper runs retry\`, \`skip\` or \`fail\` with ${run.lock.run}, which record who did it; or here, by sending the update`,
    `\`retryStep\`, \`skipStep\` or \`failOperation\` with \`{"cursor": ${here.cursor}, "by": "you", "reason": "why"}\`.`,
  ].join(' ');

/** Markdown: what the run does, how far it is, what it waits for, why it ended. */
export const details = (run: RunInput, here: Here, error?: string): string =>
  [
    `**${run.verb}** on ${run.node_name ?? run.lock.node_uuid}: ${here.state}${here.waitingFor ? `, waiting for ${here.waitingFor}` : ''}`,
    '',
    ...here.steps.map((step) => {
      const tick =
        step.index < here.cursor ? ticks.before : step.index === here.cursor ? (ticks[here.state] ?? ' ') : ' ';
      return `- ${tick} ${nameOf(step)}`;
    }),
    ...[error ?? here.error].flatMap((text) => (text ? ['', text] : [])),
    ...(here.state === 'parked' ? ['', choices(run, here)] : []),
  ].join('\n');
