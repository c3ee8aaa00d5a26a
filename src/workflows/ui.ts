/** Texts for Temporal's UI. */
import type { PlannedStep } from '../model/lifecycle/step-types';

import { nameOf } from '../model/lifecycle/steps';
import type { RunInput } from '../model/runs/runs';
import type { ExecutionState } from './state';

/** `3/5 power.reboot` */
export const label = (state: ExecutionState, step: PlannedStep): string =>
  `${step.index + 1}/${state.steps.length} ${nameOf(step)}${step.on ? ` on ${step.on.name ?? step.on.node_uuid}` : ''}`;

const ticks: Readonly<Record<string, string>> = {
  before: '✓',
  parked: '?',
  waiting: '…',
  running: '▶',
  failed: '✗',
  aborted: '✗',
};

/** The API records who decided; the UI relies on `by`. */
const choices = (run: RunInput, state: ExecutionState): string =>
  [
    `Decide by \`temper runs retry\`, \`skip\` or \`fail\` with ${run.lock.run}, which record who did it; or here, by sending the update`,
    `\`retryStep\`, \`skipStep\` or \`failOperation\` with \`{"cursor": ${state.cursor}, "by": "you", "reason": "why"}\`.`,
  ].join(' ');

export const details = (run: RunInput, state: ExecutionState, error?: string): string =>
  [
    `**${run.verb}** on ${run.node_name ?? run.lock.node_uuid}: ${state.state}${state.waitingFor ? `, waiting for ${state.waitingFor}` : ''}`,
    '',
    ...state.steps.map((step) => {
      const tick =
        step.index < state.cursor ? ticks.before : step.index === state.cursor ? (ticks[state.state] ?? ' ') : ' ';
      const again = step.index === state.cursor && state.attempt > 1 ? `, attempt ${state.attempt}` : '';
      return `- ${tick} ${nameOf(step)}${again}`;
    }),
    ...[error ?? state.error].flatMap((text) => (text ? ['', text] : [])),
    ...(state.state === 'parked' ? ['', choices(run, state)] : []),
  ].join('\n');
