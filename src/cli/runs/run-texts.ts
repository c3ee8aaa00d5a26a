/** Runs as text: lists, one run, and effects of acts. */
import { willOf } from '../../model/runs/run-acts';
import type { ListedRun, Run, RunStep } from '../../wire/runs';
import { listing, plainText, sheet, table } from '../tables';

/** Shown characters of a UUID; more if two runs share them. */
const shortId = 8;

const runbookOf = ({ runbook }: Run): string =>
  runbook && runbook.revision !== null
    ? `${plainText(runbook.name)}, revision ${runbook.revision}`
    : plainText(runbook?.name);

/** On a terminal, ids are short. */
export const runTable = listing<ListedRun>(
  'runs',
  ['RUN', 'NODE', 'VERB', 'STATE', 'STEP', 'BEGAN', 'WAITS FOR, OR LAST ERROR'],
  (run, width) => [
    width === undefined ? run.uuid : run.uuid.slice(0, shortId),
    run.node_name ?? run.node_uuid,
    run.verb,
    run.retrying ? 'retrying' : run.state,
    `${Math.min(run.cursor + 1, run.step_count)}/${run.step_count}`,
    run.started_at ?? run.created_at,
    run.waiting_for ?? run.last_error,
  ],
);

// A parked step's reason is in the run.
const saysOf = ({ state, waiting_for, last_error, note }: RunStep): string | null =>
  (state === 'parked' ? (last_error ?? waiting_for) : (waiting_for ?? last_error)) ?? note;

const stepRow = (step: RunStep): unknown[] => [
  step.index,
  `${step.interface}.${step.step}`,
  step.state,
  step.act,
  step.attempt,
  step.next_retry_at,
  saysOf(step),
];

/** An abort that waits for a command to end. */
const abortOf = ({ abort, finished_at }: Run): string | null =>
  abort && !finished_at ? `abort asked by ${abort.by} at ${plainText(abort.at)}` : null;

export const runSheet = (run: Run, width?: number): string =>
  sheet({
    run: run.uuid,
    node: run.node_name ? `${run.node_name} (${run.node_uuid})` : run.node_uuid,
    verb: run.verb,
    runbook: runbookOf(run),
    state: run.state,
    phase: run.phase,
    'asked by': run.requester.user_name ?? run.requester.user_id,
    abort: abortOf(run),
    'waits for': run.waiting_for,
    'waits since': run.waiting_since,
    'last error': run.last_error ?? (run.state === 'parked' ? run.steps[run.cursor]?.last_error : null),
    accepted: run.created_at,
    began: run.started_at,
    ended: run.finished_at,
    'in Temporal': run.links.temporal_ui,
  }) +
  (run.steps.length > 0
    ? `\n${table(['#', 'STEP', 'STATE', 'ACT', 'ATTEMPT', 'NEXT TRY', 'SAYS'], run.steps.map(stepRow), width)}`
    : '');

export const abortWill = (run: Run): string => willOf('abort', run, run.steps[run.cursor]);
