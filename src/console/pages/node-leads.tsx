/** Acts that depend on a node's runs, and the table of states that chooses the primary one. */
import { failedStates, type ProvisionState, states } from '../../model/lifecycle/states';
import type { ListedRun } from '../../wire/runs';
import type { Offer } from '../parts/acts';
import { Choice } from '../parts/forms';
import { nodeAddress, toneOf } from '../parts/texts';
import type { RunbookView } from '../views';
import {
  maintenanceRules,
  type NodeStanding,
  nodeOffers,
  type OfferedVerb,
  provisionRule,
  runbookRule,
  verbLabels,
  verbStateSays,
} from './node-offers';
import { rerunRefused, runOffers } from './run';

/** Facts that decide the first sentence of a node's page, and its primary act. */
export type Situation = NodeStanding & {
  /** The run that works on the node or waits. */
  readonly open: ListedRun | undefined;
  /** The newest run that has ended. */
  readonly last: ListedRun | undefined;
};

/** The run that failed and so caused the present state. */
export const failedRun = (is: Situation): ListedRun | undefined =>
  is.open === undefined && is.last && failedStates.includes(is.node.provision_state) && toneOf(is.last.state) === 'bad'
    ? is.last
    : undefined;

/** The run about whose acts the page asks. */
export const decidedRun = (is: Situation): ListedRun | undefined => is.open ?? failedRun(is);

const onRun = (run: ListedRun, standing: NodeStanding): Offer[] =>
  runOffers({ ...run, on: standing })
    .filter(({ stateSays }) => stateSays === undefined)
    .map(
      (offer): Offer => ({
        ...offer,
        name: `run-${offer.name}`,
        action: `/runs/${run.uuid}/${offer.name}`,
        about: { kind: 'run', object: run.uuid },
      }),
    );

const noRunbooks = <>No runbooks yet. <a href="/runbooks/new">New runbook</a></>; // biome-ignore format: one sentence

const runbookOffer = (standing: NodeStanding, runbooks: readonly RunbookView[]): Offer => {
  const verb = (['service', 'clean'] as const).find((one) => verbStateSays(one, standing) === undefined);
  const tried = standing.node.provision_state === 'manageable' ? 'clean' : 'service';
  return {
    name: 'runbook',
    label: 'Run a runbook',
    rule: runbookRule,
    stateSays: verb ? (runbooks.length === 0 ? noRunbooks : undefined) : verbStateSays(tried, standing),
    will: `Runs its steps on the node (${verb ?? tried}). Preview shows them first, and changes nothing.`,
    withoutReason: true,
    preview: true,
    fields: { what: 'verb', verb: verb ?? tried },
    more: <Choice label="Runbook" name="runbook" options={runbooks.map(({ name }) => name)} />,
  };
};

/** Verb that follows a failure after its cause is repaired. */
const mends: Partial<Readonly<Record<ProvisionState, OfferedVerb>>> = {
  'clean failed': 'manage',
  'inspect failed': 'inspect',
  'adopt failed': 'adopt',
  'rescue failed': 'unrescue',
  'unrescue failed': 'unrescue',
};

/** Ends maintenance and acts, in one form. */
const mendOffers = (is: Situation): Offer[] => {
  const { node } = is;
  if (!node.maintenance) return [];
  const outside = { ...is, node: { ...node, maintenance: false } };
  const [verb, run] = [mends[node.provision_state], failedRun(is)];
  const both = { name: 'mend', rule: maintenanceRules.off };
  if (verb)
    return [
      {
        ...both,
        label: `Leave maintenance and ${verbLabels[verb].toLowerCase()}`,
        also: [provisionRule],
        stateSays: verbStateSays(verb, outside),
        will: `Ends maintenance, then requests ${verb}.`,
        withoutReason: true,
        fields: { what: 'mend', verb },
      },
    ];
  if (!run || node.provision_state !== 'service failed') return [];
  return [
    {
      ...both,
      label: 'Leave maintenance and retry',
      also: ['temper:run:rerun'],
      stateSays: rerunRefused({ ...run, on: outside }),
      will: 'Ends maintenance, then resumes the failed run in a new run, at the step that failed.',
      fields: { what: 'mend', run: run.uuid },
    },
  ];
};

/** The form is on the Deploy tab. */
const deployOffer = (is: Situation): Offer => {
  const again = is.node.provision_state === 'active';
  return {
    name: 'deploy',
    label: again ? 'Rebuild' : 'Deploy',
    verb: again ? 'rebuild' : 'active',
    rule: provisionRule,
    stateSays: verbStateSays(again ? 'rebuild' : 'active', is),
    will: '',
    href: `${nodeAddress(is.node)}/deploy`,
    danger: again,
  };
};

const byState: Partial<Readonly<Record<ProvisionState, readonly string[]>>> = {
  enroll: ['manage'],
  manageable: ['provide'],
  available: ['deploy'],
  'deploy failed': ['deploy'],
  rescue: ['unrescue'],
  error: ['undeploy'],
  'clean failed': ['manage'],
  'inspect failed': ['inspect'],
  'adopt failed': ['adopt'],
  'service failed': ['run-rerun'],
  'rescue failed': ['unrescue'],
  'unrescue failed': ['unrescue'],
};

const leads: readonly (readonly [when: (is: Situation) => boolean, act: string])[] = [
  [({ open }) => open?.state === 'parked', 'run-retry'],
  [({ open }) => open?.state === 'paused', 'run-resume'],
  [({ node }) => states[node.provision_state].kind === 'hold', 'unhold'],
  [({ node }) => node.maintenance, 'mend'],
  [({ node }) => node.maintenance, 'leave-maintenance'],
];

/** Names of acts that lead on; the first possible one is the primary one. */
export const leadsOf = (is: Situation): readonly string[] => [
  ...leads.filter(([when]) => when(is)).map(([, act]) => act),
  ...(is.open ? [] : (byState[is.node.provision_state] ?? [])),
];

export const situationOffers = (is: Situation, runbooks: readonly RunbookView[]): Offer[] => {
  const run = decidedRun(is);
  return [
    ...mendOffers(is),
    ...(run ? onRun(run, is) : []),
    runbookOffer(is, runbooks),
    deployOffer(is),
    ...nodeOffers(is),
  ];
};
