/** Runs as text: lists, one run, and effects of acts. */
import { willOf } from '../../model/runs/run-acts';
import { plainText, sheet, table } from '../tables';

export type Step = {
  readonly index: number;
  readonly interface: string;
  readonly step: string;
  readonly state: string;
  readonly act: string | null;
  /** Attempt of the current or the last act. */
  readonly attempt: number;
  readonly abortable?: boolean;
  readonly last_error: string | null;
  readonly next_retry_at?: string | null;
  readonly waiting_for: string | null;
  readonly note: string | null;
  /** Past duration of such steps, in milliseconds. */
  readonly expected_ms?: number | null;
  readonly started_at?: string | null;
};

export type Run = {
  readonly uuid: string;
  readonly node_uuid: string;
  readonly node_name: string | null;
  readonly verb: string;
  readonly state: string;
  readonly runbook: unknown;
  readonly requester?: { readonly user_name?: string | null; readonly user_id?: string | null };
  readonly cursor: number;
  readonly phase?: string | null;
  readonly waiting_for: string | null;
  readonly waiting_since?: string | null;
  readonly last_error: string | null;
  /** Null if no caller requested an abort. */
  readonly abort?: { readonly by: string; readonly at: string } | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at?: string | null;
  readonly step_count?: number;
  /** Only in lists; a single run has its phase. */
  readonly retrying?: boolean;
  readonly steps?: readonly Step[];
  readonly links?: { readonly temporal_ui?: string };
};

/** Shown characters of a UUID; more if two runs share them. */
const shortId = 8;

export const stepsOf = (run: Run): number => run.step_count ?? run.steps?.length ?? 0;
const stepPlace = (run: Run): string => `${Math.min(run.cursor + 1, stepsOf(run))}/${stepsOf(run)}`;
const nodeNameOf = (run: Run): string => run.node_name ?? run.node_uuid;
const runbookOf = ({ runbook }: Run): string => {
  if (typeof runbook !== 'object' || runbook === null) return plainText(runbook);
  const { name, revision } = runbook as { name?: unknown; revision?: unknown };
  return typeof revision === 'number' ? `${plainText(name)}, revision ${revision}` : plainText(name);
};

const stateOf = (run: Run): string => (run.retrying || run.phase === 'retrying' ? 'retrying' : run.state);

/** @param width of a terminal: shortens ids and texts. Scripts get everything. */
export const runTable = (runs: readonly Run[], width?: number): string =>
  runs.length === 0
    ? 'No runs.\n'
    : table(
        ['RUN', 'NODE', 'VERB', 'STATE', 'STEP', 'BEGAN', 'WAITS FOR, OR LAST ERROR'],
        runs.map((run) => [
          width === undefined ? run.uuid : run.uuid.slice(0, shortId),
          nodeNameOf(run),
          run.verb,
          stateOf(run),
          stepPlace(run),
          run.started_at ?? run.created_at,
          run.waiting_for ?? run.last_error,
        ]),
        width,
      );

// A parked step's reason is in the run.
const saysOf = ({ state, waiting_for, last_error, note }: Step): string | null =>
  (state === 'parked' ? (last_error ?? waiting_for) : (waiting_for ?? last_error)) ?? note;

const stepRow = (step: Step): unknown[] => [
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
  abort && !finished_at ? `abort asked by ${abort.by} at ${abort.at}` : null;

export const runSheet = (run: Run, width?: number): string =>
  sheet({
    run: run.uuid,
    node: run.node_name ? `${run.node_name} (${run.node_uuid})` : run.node_uuid,
    verb: run.verb,
    runbook: runbookOf(run),
    state: run.state,
    phase: run.phase,
    'asked by': run.requester?.user_name ?? run.requester?.user_id,
    abort: abortOf(run),
    'waits for': run.waiting_for,
    'waits since': run.waiting_since,
    'last error': run.last_error ?? (run.state === 'parked' ? run.steps?.[run.cursor]?.last_error : null),
    accepted: run.created_at,
    began: run.started_at,
    ended: run.finished_at,
    'in Temporal': run.links?.temporal_ui,
  }) +
  (run.steps?.length
    ? `\n${table(['#', 'STEP', 'STATE', 'ACT', 'ATTEMPT', 'NEXT TRY', 'SAYS'], run.steps.map(stepRow), width)}`
    : '');

export const abortWill = (run: Run): string => willOf('abort', run, run.steps?.[run.cursor]);
