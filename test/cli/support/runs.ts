/** Runs as the API answers them. */
import type { ListedRun, Run, RunStep } from '../../../src/wire/runs';

const head = {
  uuid: '11111111-2222-4333-8444-555555555555',
  node_uuid: 'n-uuid',
  node_name: 'n-1',
  verb: 'clean',
  state: 'running',
  requester: { user_id: null, user_name: 'ann' },
  cursor: 1,
  waiting_for: null,
  waiting_since: null,
  last_error: null,
  created_at: '2026-11-01T00:00:00.000Z',
  started_at: '2026-11-01T00:00:01.000Z',
  finished_at: null,
  updated_at: '2026-11-01T00:00:01.000Z',
  links: { self: '' },
};

export const runStep = (index: number, over: Partial<RunStep> = {}): RunStep => ({
  index,
  interface: 'bios',
  step: 'apply_configuration',
  system: false,
  abortable: true,
  args: {},
  state: 'pending',
  act: null,
  attempt: 0,
  attempts: 0,
  last_error: null,
  next_retry_at: null,
  waiting_for: null,
  note: null,
  started_at: null,
  finished_at: null,
  ...over,
});

export const shownRun = (over: Partial<Run> = {}): Run => ({
  ...head,
  runbook: { uuid: 'r', name: 'CUSTOM_X', revision: null },
  parameters: null,
  rule_set: null,
  abort: null,
  owner: null,
  lessee: null,
  lease: null,
  batch: null,
  resumes: null,
  target: null,
  steps: [
    runStep(0, { state: 'done' }),
    runStep(1, { state: 'running', act: 'stage_bios', attempt: 2, abortable: false }),
  ],
  phase: 'acting',
  sources: ['store'],
  ...over,
});

export const listedRun = (over: Partial<ListedRun> = {}): ListedRun => ({
  ...head,
  runbook: 'CUSTOM_X',
  runbook_revision: null,
  step: 'bios.apply_configuration',
  step_count: 2,
  retrying: false,
  attempt: 2,
  ...over,
});
