/** Renders the provision state machine: the states, what leads from one to another, and what each verb does. */
import {
  next,
  type ProvisionState,
  powerTargets,
  states,
  statesBefore,
  transitions,
} from '../../src/model/lifecycle/states';
import { type Verb, type VerbRow, verbRow, verbs } from '../../src/model/lifecycle/verbs';
import { code, codes, page, table } from './markdown';

const transitionTable = (): string =>
  table(
    ['from', 'event', 'to'],
    transitions.map(({ from, on, to }) => [code(from), code(on), code(to)]),
  );

const yes = (value: boolean): string => (value ? 'yes' : '');

const stateTable = (): string =>
  table(
    ['state', 'kind', 'heading for', 'PATCH while a target is set', 'delete outside maintenance'],
    Object.entries(states).map(([state, row]) => [
      code(state),
      row.kind,
      row.target ?? '',
      yes(row.patch),
      yes(row.delete),
    ]),
  );

// A node in any other transient state is held by the run that works there, so only a message gets through.
const takenOver: readonly ProvisionState[] = statesBefore('delete');

const callableFrom = (row: VerbRow): ProvisionState[] =>
  statesBefore(row.event).filter(
    (state) => row.does !== 'run' || states[state].kind !== 'transient' || takenOver.includes(state),
  );

const atOnceFrom = (row: VerbRow): ProvisionState[] =>
  callableFrom(row).filter((state) => states[next(state, row.event)!].kind === 'stable');

const atOnce = (row: VerbRow): string => {
  const from = atOnceFrom(row);
  return from.length === 0 ? '' : `; at once from ${codes(from)}`;
};

const does = (row: VerbRow): string => {
  switch (row.does) {
    case 'run':
      return `a run of workflow \`${row.kind}\`${atOnce(row)}`;
    case 'message':
      return `a message to the run that waits${atOnce(row)}`;
  }
};

const stepsOf = (row: VerbRow): string =>
  ({ given: `${row.stepsKey} or a runbook`, optional: `${row.stepsKey}, if any`, automatic: 'automatic', none: '' })[
    row.steps ?? 'none'
  ];

const refusals = (row: VerbRow): string =>
  [
    ...(row.maintenance ? ['in maintenance'] : []),
    ...(row.retired ? ['when retired'] : []),
    ...(row.protected ? ['when protected'] : []),
  ].join(', ');

const endOf = (row: VerbRow): string => {
  if (!row.ends) return '';
  const reached = transitions.find(({ from, on }) => on === row.ends && workingStates(row).includes(from));
  return code(reached?.to ?? '');
};

// A tear-down goes on as a cleaning.
const workingStates = (row: VerbRow): ProvisionState[] =>
  transitions
    .filter(({ on }) => on === row.event)
    .flatMap(({ to }) => [to, next(to, 'clean')])
    .filter((state) => state !== undefined);

const verbTable = (): string =>
  table(
    ['verb', 'since', 'from', 'does', 'steps', 'ends well in', 'refused'],
    Object.keys(verbs).map((verb) => {
      const row = verbRow(verb as Verb);
      return [
        code(verb),
        `1.${row.since}`,
        codes(callableFrom(row)),
        does(row),
        stepsOf(row),
        endOf(row),
        refusals(row),
      ];
    }),
  );

const powerTable = (): string =>
  table(
    ['target', 'since', 'acts', 'ends in'],
    Object.entries(powerTargets).map(([target, row]) => [
      code(target),
      `1.${row.since}`,
      codes(row.acts),
      code(row.ends),
    ]),
  );

/** docs/states.md */
export const renderStates = (): string =>
  page(
    'States and verbs',
    'What a node’s `provision_state` can be and what leads where. Events that no verb sends (`done`, `fail`, `wait`, ' +
      '`resume`, `hold`) come from the run that works on the node.',
    '![The life of a node: stable states, and the work between them](diagrams/life-of-a-node.svg)',
    '## Verbs\n\nThe `target` of `PUT /v1/nodes/{node}/states/provision`. Where a run waits on the node, a verb that is legal there ' +
      'takes over from it: the waiting run is signalled to end, and the new one acts once it has.',
    verbTable(),
    '## Power\n\nThe `target` of `PUT /v1/nodes/{node}/states/power`.',
    powerTable(),
    '## States',
    stateTable(),
    '## Transitions',
    transitionTable(),
  );
