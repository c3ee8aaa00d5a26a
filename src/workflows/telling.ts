/** How a run reads in the engine's UI: the label of a step, and the list with ticks. */
import type { RunInput } from '../model/runs';
import { nameOf, type PlannedStep } from '../model/steps';
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
    ...(error ? ['', error] : []),
  ].join('\n');
