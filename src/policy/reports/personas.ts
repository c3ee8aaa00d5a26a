/** Callers and objects of the policy tables. */

import { anonymous, type Caller, expandRoles } from '../../model/access/callers';
import {
  allocationTarget,
  disruptionTarget,
  nodeTarget,
  rolloutTarget,
  runbookTarget,
  runTarget,
  usageTarget,
  webhookTarget,
  windowTarget,
} from '../engine/targets';
import type { Target } from '../types';

export const personaGroups = ['system', 'owner', 'lessee', 'stranger'] as const;
export const personaRoles = ['admin', 'manager', 'member', 'reader', 'service'] as const;

export type PersonaGroup = (typeof personaGroups)[number];
type PersonaRole = (typeof personaRoles)[number];
export type PersonaName = `${PersonaGroup}-${PersonaRole}`;

export const projectOf = (group: PersonaGroup): string => `project-${group}`;

const personaScope = (group: PersonaGroup): Partial<Caller> =>
  group === 'system'
    ? { system_scope: 'all' }
    : { project_id: projectOf(group), project_name: projectOf(group), project_domain_id: 'default' };

const personaWith = (group: PersonaGroup, name: string, roles: readonly string[]): Caller => ({
  ...anonymous,
  user_id: `${group}-${name}`,
  user_name: `${group}-${name}`,
  user_domain_id: 'default',
  roles,
  strategy: 'static_tokens',
  ...personaScope(group),
});

const persona = (group: PersonaGroup, role: PersonaRole): Caller => personaWith(group, role, expandRoles([role]));

/** Returns a caller with the roles reader and `role`. */
export const customPersona = (group: PersonaGroup, role: string): Caller => personaWith(group, role, ['reader', role]);

/** Admins of an unrelated project and of another one, by column title. */
export const supporters: Readonly<Record<string, Caller>> = Object.fromEntries(
  (['owner', 'lessee'] as const).map((group) => {
    const role = `admin who is admin of the ${group} too`;
    return [
      role,
      { ...personaWith('stranger', 'support', expandRoles(['admin'])), admin_projects: [projectOf(group)] },
    ];
  }),
);

/** Implied roles are included. */
export const personas = Object.fromEntries(
  personaGroups.flatMap((group) => personaRoles.map((role) => [`${group}-${role}`, persona(group, role)])),
) as Readonly<Record<PersonaName, Caller>>;

const owner = projectOf('owner');
const lessee = projectOf('lessee');

type Scene = { readonly kind: string; readonly title: string; readonly target: Target; readonly about: RegExp };

const aboutNodes =
  /^(?:baremetal:(?:node|port|portgroup|volume):|temper:(?:(?:node|freeze|rollout_target):|rollout:(?:without_consent|override_budget)$))/;
const aboutRunbooks = /^(?:(?:baremetal|temper):runbook:|baremetal:step:execute:)/;
const aboutRuns = /^temper:run:/;
const aboutAllocations = /^baremetal:allocation:/;
const aboutRollouts = /^temper:rollout:(?!(?:without_consent|override_budget)$)/;
const aboutProjects = /^temper:(?:disruption_budget|window|webhook|usage):/;

export const scenes: readonly Scene[] = [
  {
    kind: 'node',
    title: 'A node that "owner" owns and "lessee" leases',
    target: nodeTarget({ owner, lessee }),
    about: aboutNodes,
  },
  {
    kind: 'node',
    title: 'A node that "owner" owns and no project leases',
    target: nodeTarget({ owner, lessee: null }),
    about: aboutNodes,
  },
  {
    kind: 'node',
    title: 'A node that no project owns',
    target: nodeTarget({ owner: null, lessee: null }),
    about: aboutNodes,
  },
  {
    kind: 'runbook',
    title: "A runbook of project owner's",
    target: runbookTarget({ owner, public: false }),
    about: aboutRunbooks,
  },
  {
    kind: 'runbook',
    title: 'A public runbook',
    target: runbookTarget({ owner: null, public: true }),
    about: aboutRunbooks,
  },
  {
    kind: 'runbook',
    title: 'A private runbook without an owner',
    target: runbookTarget({ owner: null, public: false }),
    about: aboutRunbooks,
  },
  {
    kind: 'run',
    title: 'A run for the lease that still lasts',
    target: runTarget({ owner, lessee, tenant: lessee }),
    about: aboutRuns,
  },
  {
    kind: 'run',
    title: 'A run from before the lease',
    target: runTarget({ owner, lessee, tenant: null }),
    about: aboutRuns,
  },
  {
    kind: 'allocation',
    title: "An allocation of project owner's",
    target: allocationTarget({ owner }),
    about: aboutAllocations,
  },
  {
    kind: 'disruption',
    title: "A disruption budget, a window, a webhook or the usage of project owner's",
    target: {
      ...disruptionTarget({ project: owner }),
      ...windowTarget({ project: owner }),
      ...usageTarget({ project: owner }),
      ...webhookTarget({ project: owner }),
    },
    about: aboutProjects,
  },
  {
    kind: 'rollout',
    title: "A rollout of project owner's",
    target: rolloutTarget({
      project: owner,
      requester: 'someone',
      size: '10',
      erases: false,
      power: true,
      projects: 'own',
      tenant: owner,
    }),
    about: aboutRollouts,
  },
];

/** Without a scene, a rule is evaluated without an object. */
export const isAboutNothing = (rule: string): boolean => !scenes.some(({ about }) => about.test(rule));
