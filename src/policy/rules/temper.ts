/** Rules that Temper adds or changes. */
import type { RegisteredRule, Scope } from '../types';
import {
  anyOf,
  lesseeAdmin,
  ownerAdmin,
  ownerManager,
  ownerMember,
  ownerReader,
  ownerService,
  systemAdmin,
  systemMember,
  systemReader,
  systemService,
  tenantMember,
  tenantReader,
} from './bases';

const scopes: readonly Scope[] = ['system', 'project'];

const ownRunbook = 'project_id:%(runbook.owner)s';
const publicRunbook = 'True:%(runbook.public)s';
/** True for every caller with a project, because null never matches null. */
const inSomeProject = 'project_id:%(project_id)s';
/** Older Keystone releases have no manager role and send admin alone. */
const manager = '(role:manager or role:admin)';

const runbookEditor = anyOf(
  systemMember,
  systemService,
  `${manager} and ${ownRunbook}`,
  `role:service and ${ownRunbook}`,
);
const freeSteps = anyOf(systemMember, systemService, ownerAdmin, ownerManager);
const operators = anyOf(systemMember, systemService);
const seesRun = anyOf(systemReader, ownerReader, ownerService, 'role:reader and project_id:%(run.tenant)s');

const ownWebhook = 'project_id:%(webhook.project)s';
const ownBudget = 'project_id:%(disruption_budget.project)s';
const ownWindow = 'project_id:%(window.project)s';
const ownUsage = 'project_id:%(usage.project)s';
const ownRollout = 'project_id:%(rollout.project)s';
const erasesNothing = 'not True:%(rollout.erases)s';
// Two-person rule: the requester cannot approve.
const notOwnRequest = 'not user_id:%(rollout.requester)s';
const tenant = 'project_id:%(run.tenant)s';
const operatesRun = anyOf(systemMember, systemService, ownerMember, `role:member and ${tenant}`);
// Skipping a step changes what an operator approved.
const changesRun = anyOf(systemMember, systemService, ownerAdmin, ownerManager);

type TemperRuleRow = {
  readonly name: string;
  readonly check: string;
  readonly says: string;
  /** Text in set `ironic`, if it differs. Null: the set has no such rule until a file defines it. */
  readonly ironic?: string | null;
  /** Text in set `closed`, if it differs from `ironic`. */
  readonly closed?: string;
};

// In set ironic, these need the rule of every provision request.
const asProvision = 'rule:baremetal:node:set_provision_state';

export const changedRules: readonly TemperRuleRow[] = [
  {
    name: 'baremetal:allocation:create',
    check: systemMember,
    says: 'Create an allocation for any owner, or for none: those who run the system.',
  },
  {
    name: 'baremetal:allocation:create_restricted',
    check: anyOf(systemMember, `role:member and ${inSomeProject}`),
    says: 'Create an allocation for the own project: only nodes that it owns or leases come into question.',
  },
  {
    name: 'baremetal:runbook:use',
    check: anyOf(
      systemMember,
      systemService,
      `role:member and ${ownRunbook}`,
      `role:member and ${publicRunbook}`,
      `role:service and ${ownRunbook}`,
    ),
    says: 'Run an approved list of steps: members use the runbooks of their project and public ones.',
  },
  {
    name: 'baremetal:runbook:get',
    check: anyOf(
      systemReader,
      `role:reader and ${ownRunbook}`,
      `role:reader and ${publicRunbook}`,
      `role:service and ${ownRunbook}`,
    ),
    says: 'See a runbook; a service user of another project does not.',
  },
  {
    name: 'baremetal:runbook:update',
    check: runbookEditor,
    says: 'Change a runbook: managers of the project that owns it.',
  },
  {
    name: 'baremetal:runbook:delete',
    check: runbookEditor,
    says: 'Delete a runbook: managers of the project that owns it.',
  },
  {
    name: 'baremetal:runbook:create',
    check: anyOf(systemMember, systemService, `${manager} and ${inSomeProject}`, `role:service and ${inSomeProject}`),
    says: "Create a runbook; a project's caller creates it for that project.",
  },
  {
    name: 'baremetal:node:set_provision_state:clean_steps',
    check: freeSteps,
    says: 'Clean with steps of one’s own choice instead of a runbook.',
  },
  {
    name: 'baremetal:node:set_provision_state:service_steps',
    check: freeSteps,
    says: 'Service with steps of one’s own choice instead of a runbook.',
  },
  {
    name: 'baremetal:volume:view_target_properties',
    check: anyOf(systemReader, ownerAdmin, lesseeAdmin),
    says: 'See how a volume is reached, if that is no secret: admins of the projects that own or lease its node.',
  },
];

// The field's own rule is evaluated too, so either suffices if two fields share a rule.
const fieldRules = {
  driver_info: 'rule:baremetal:node:update:driver_info',
  instance_info: 'rule:baremetal:node:update_instance_info',
  both: 'rule:baremetal:node:update:driver_info or rule:baremetal:node:update_instance_info',
  interfaces: 'rule:baremetal:node:update:driver_interfaces',
  update: 'rule:baremetal:node:update',
} as const;

type Guarded = {
  readonly what: string;
  readonly says: string;
  /** In Ironic, callers who may change this field may change it. */
  readonly field: keyof typeof fieldRules;
  /** Text in set temper; operators only if absent. */
  readonly temper?: string;
  /** Text in set closed; as in Ironic if absent. */
  readonly closed?: string;
};

/** A field with a separate route has the rule of that route. */
const asRoute = (act: string) => ({
  temper: `rule:baremetal:node:${act}`,
  closed: `rule:baremetal:node:${act}`,
});

/** Parts of a node with a rule besides that of their field. */
const guardedKeys: readonly Guarded[] = [
  {
    what: 'bmc_address',
    says: 'Change where a BMC is, how it is reached, and whom to take for it: operators only.',
    field: 'driver_info',
  },
  { what: 'bmc_credentials', says: 'Change the account on a BMC: operators only.', field: 'driver_info' },
  {
    what: 'ramdisk',
    says: 'Change the ramdisk that cleans, deploys and rescues a node: operators only.',
    field: 'driver_info',
  },
  {
    what: 'kernel_params',
    says: 'Change the parameters of a kernel that boots on a node: operators only.',
    field: 'both',
  },
  {
    what: 'instance_boot',
    says: 'Boot an instance from a kernel or an image that is not its disk’s: operators only.',
    field: 'instance_info',
  },
  {
    what: 'deploy_interface',
    says: 'Change by which interface a node is deployed: operators only.',
    field: 'interfaces',
  },
  {
    what: 'resource_class',
    says: 'Change the class of a node, which says by which runbook it is cleaned: operators and managers of the owner.',
    field: 'update',
    temper: freeSteps,
    // A file that lets an owner update nodes opens this to the owner's managers.
    closed: `(${freeSteps}) and rule:baremetal:node:update`,
  },
  {
    what: 'set_maintenance',
    says: 'Take a node out of use by a patch: who may by its own route.',
    field: 'update',
    ...asRoute('set_maintenance'),
  },
  {
    what: 'clear_maintenance',
    says: 'Bring a node back into use by a patch: who may by its own route.',
    field: 'update',
    ...asRoute('clear_maintenance'),
  },
];

/** They replace what a host boots or what protects it. In projects' runbooks, only operators admit them. */
const operatorSteps: readonly (readonly [step: string, says: string])[] = [
  ['firmware.update', 'replace firmware'],
  ['deploy.update_nvidia_nic_firmware_image', 'replace the firmware of network cards'],
  ['deploy.update_nvidia_nic_firmware_settings', 'change the firmware settings of network cards'],
  ['management.attach_virtual_media', 'mount media'],
  ['management.reset_secure_boot_keys_to_default', 'put secure boot keys back'],
  ['management.clear_secure_boot_keys', 'clear secure boot keys'],
  ['management.reset_bmc', 'restart the BMC'],
  ['deploy.generic_container_step', 'run containers in the ramdisk'],
];

const stepRule = 'baremetal:step:execute:';

/** Names that Ironic does not have. */
export const addedRules: readonly TemperRuleRow[] = [
  {
    name: 'temper:node:run_runbook',
    check: anyOf(systemMember, systemService, tenantMember),
    ironic: asProvision,
    says: 'Clean or service a node by a runbook: members of its owner and of its lessee.',
  },
  {
    name: 'temper:node:deploy_steps',
    check: freeSteps,
    ironic: asProvision,
    closed: operators,
    says: 'Deploy or rebuild with steps of one’s own choice beside those of the deploy interface.',
  },
  {
    name: 'temper:node:deploy_for_instance',
    check: anyOf('rule:service_role', systemService),
    says: 'Deploy private images of Glance for the project in instance_info, in place of the caller’s own: the compute service.',
  },
  {
    name: 'temper:node:deploy_any_image',
    check: '!',
    says: 'Deploy private images of Glance whatever project owns them: no caller.',
  },
  {
    name: 'temper:node:steps',
    check: 'rule:baremetal:node:get',
    says: 'List the steps that a node can run.',
  },
  {
    name: 'temper:node:move_credentials',
    check: anyOf(systemMember, systemService),
    says: 'Point stored BMC credentials at another address or trust without giving them again, and name CA files of workers.',
  },
  ...guardedKeys.map(({ what, says, temper, field, closed }) => ({
    name: `temper:node:update:${what}`,
    check: temper ?? operators,
    // A key of a node needs the rule of its field.
    ironic: fieldRules[field],
    ...(closed && { closed }),
    says,
  })),
  {
    name: 'temper:run:get',
    check: seesRun,
    closed: systemReader,
    says: 'See a run: readers of the owner, and of the lessee for whose lease it runs.',
  },
  ...['abort', 'pause', 'resume', 'retry', 'fail'].map((act) => ({
    name: `temper:run:${act}`,
    check: operatesRun,
    closed: operators,
    says: `${act[0]!.toUpperCase()}${act.slice(1)} a run: members of the owner, and of the lessee for whose lease it runs.`,
  })),
  {
    name: 'temper:run:rerun',
    check: operatesRun,
    closed: operators,
    says: 'Take up the steps of a failed run in a new one. The rules of those steps, or of their runbook, must allow it too.',
  },
  {
    name: 'temper:run:skip',
    check: changesRun,
    closed: operators,
    says: 'Go on with a run as if the step it is parked in were done: managers of the owner.',
  },
  {
    name: 'temper:freeze:get',
    check: 'rule:baremetal:node:get',
    says: 'See the freezes of a node: every caller who sees the node.',
  },
  {
    name: 'temper:freeze:create',
    check: operators,
    says: 'Freeze a node, so that nothing is written to its BMC: operators only.',
  },
  {
    name: 'temper:freeze:delete',
    check: operators,
    says: 'End a freeze: operators only.',
  },
  ...['get', 'create', 'update', 'delete'].map((act) => ({
    name: `temper:webhook:${act}`,
    check: anyOf(systemAdmin, `${manager} and ${ownWebhook}`),
    says: `${act === 'get' ? 'See' : `${act[0]!.toUpperCase()}${act.slice(1)}`} webhooks: a project’s managers its own, and system administrators all.`,
  })),
  ...['get', 'create', 'delete'].map((act) => ({
    name: `temper:ramdisk:${act}`,
    check: act === 'get' ? systemReader : systemAdmin,
    says: `${act === 'get' ? 'See the ramdisks that nodes can be booted from: readers' : `${act[0]!.toUpperCase()}${act.slice(1)} ramdisks, from which all nodes can be booted: administrators`} of the system.`,
  })),
  ...['get', 'create', 'delete'].map((act) => ({
    name: `temper:image:${act}`,
    check: act === 'get' ? systemReader : systemAdmin,
    says: `${act === 'get' ? 'See the images that the boot service sends: readers' : `${act[0]!.toUpperCase()}${act.slice(1)} images, which any deployment can name: administrators`} of the system.`,
  })),
  ...(
    [
      ['get', 'See the machines without a node, as they reported themselves: readers of the system.'],
      ['enroll', 'Enrol a discovered machine as a node: administrators of the system.'],
      ['refuse', 'Refuse a discovered machine: administrators of the system.'],
      ['delete', 'Remove the record of a discovered machine: administrators of the system.'],
    ] as const
  ).map(([act, says]) => ({
    name: `temper:discovered_machine:${act}`,
    check: act === 'get' ? systemReader : systemAdmin,
    says,
  })),
  {
    name: 'temper:disruption_budget:get',
    check: anyOf(systemReader, `role:reader and ${ownBudget}`, `role:service and ${ownBudget}`),
    ironic: systemReader,
    says: 'See how many of its nodes a project lets be missing at once: readers of that project.',
  },
  ...['create', 'update'].map((act) => ({
    name: `temper:disruption_budget:${act}`,
    check: `${manager} and ${ownBudget}`,
    ironic: systemAdmin,
    says: `${act[0]!.toUpperCase()}${act.slice(1)} a project’s disruption budget: its managers, and no operator, who may go past one by a rule and a reason.`,
  })),
  {
    name: 'temper:disruption_budget:delete',
    check: anyOf(systemAdmin, `${manager} and ${ownBudget}`),
    ironic: systemAdmin,
    says: 'Delete a project’s disruption budget: its managers, and system administrators if a project is gone.',
  },
  {
    name: 'temper:window:get',
    check: anyOf(systemReader, `role:reader and ${ownWindow}`, `role:service and ${ownWindow}`),
    ironic: systemReader,
    says: 'See in which hours a project lets rollouts of others work on its nodes: readers of that project.',
  },
  {
    name: 'temper:window:create',
    check: `${manager} and ${ownWindow}`,
    ironic: systemAdmin,
    says: 'Add a window in which rollouts of others may work on the nodes of a project: its managers, and no operator.',
  },
  {
    name: 'temper:window:delete',
    check: anyOf(systemAdmin, `${manager} and ${ownWindow}`),
    ironic: systemAdmin,
    says: 'Delete a window of a project: its managers, and system administrators if a project is gone.',
  },
  ...['node', 'runbook'].map((resource) => ({
    name: `temper:${resource}:operator_traits`,
    check: operators,
    says: `Change those traits of a ${resource} that begin as TEMPER_OPERATOR_TRAIT_PREFIX says: operators only.`,
  })),
  {
    name: 'temper:runbook:share_trait',
    check: operators,
    // A trait approves every runbook that has it, whatever its origin.
    ironic: 'rule:baremetal:runbook:update or rule:baremetal:runbook:create',
    closed: operators,
    says: 'Put a trait on a runbook that belongs to another project’s runbooks, or to the system’s: operators only.',
  },
  {
    name: 'temper:runbook:withdraw',
    check: runbookEditor,
    ironic: 'rule:baremetal:runbook:update',
    says: 'Take a revision of a runbook out of use: managers of the project that owns it.',
  },
  {
    name: 'temper:runbook:author',
    check: anyOf(systemReader, `role:reader and ${ownRunbook}`),
    ironic: 'rule:baremetal:runbook:update',
    says: 'See who made and who withdrew a revision of a runbook: readers of the project that owns it.',
  },
  {
    name: 'temper:runbook:match_name',
    check: 'rule:baremetal:runbook:use',
    ironic: '!',
    closed: 'rule:baremetal:runbook:use',
    says: 'Run a runbook without traits if the node has its name as a trait, at API version 1.112 and later too.',
  },
  {
    name: 'temper:runbook:cross',
    check: '!',
    says: 'Run a project’s private runbook on a node that it neither owns nor leases, saying why: no caller.',
  },
  {
    name: 'temper:runbook:cross_without_reason',
    check: '!',
    ironic: 'rule:baremetal:runbook:use',
    closed: '!',
    says: 'Run a project’s private runbook on a node that it neither owns nor leases, without a reason: no caller.',
  },
  ...operatorSteps.map(([step, says]) => ({
    name: `${stepRule}${step}`,
    check: anyOf(systemMember, systemService, "'request':%(step.by)s"),
    ironic: null,
    says: `${says[0]!.toUpperCase()}${says.slice(1)} by a runbook of a project: operators only. The rules of such lists decide on steps in the request itself.`,
  })),
  {
    name: 'temper:rollout:get',
    check: anyOf(systemReader, `role:reader and ${ownRollout}`, `role:service and ${ownRollout}`),
    ironic: systemReader,
    closed: systemReader,
    says: 'See a rollout with all its targets: readers of the project that it belongs to.',
  },
  {
    name: 'temper:rollout_target:get',
    check: anyOf(systemReader, tenantReader),
    ironic: systemReader,
    closed: systemReader,
    says: 'See that a rollout works on a node, and its row of it: readers of the node’s owner and of its lessee.',
  },
  {
    name: 'temper:rollout:plan',
    check: anyOf(systemMember, systemService, `role:member and ${ownRollout}`, `role:service and ${ownRollout}`),
    ironic: operators,
    closed: operators,
    says: 'Plan a rollout, and plan it again: members of the project that it belongs to. Each node asks the rules of a single run as well.',
  },
  ...[
    ['submit', 'Ask others to approve a rollout'],
    ['start', 'Start a rollout: from then on targets are begun by the rights of the caller'],
    ['pause', 'Have a rollout begin nothing more for now'],
    ['resume', 'Have a paused rollout go on'],
    ['advance', 'Open the next wave of a rollout'],
    ['abort', 'End a rollout'],
    ['adopt', 'Have a rollout go on by the rights of the caller'],
    ['rollback', 'Plan another rollout on nodes of one, to revert it'],
  ].map(([act, says]) => ({
    name: `temper:rollout:${act}`,
    check: anyOf(systemMember, systemService, `${manager} and ${ownRollout}`),
    ironic: operators,
    closed: operators,
    says: `${says}: managers of the project that it belongs to.`,
  })),
  {
    name: 'temper:rollout:start_alone',
    check: anyOf(
      `(${systemMember}) and ${erasesNothing}`,
      `${systemService} and ${erasesNothing}`,
      `${manager} and ${ownRollout} and ${erasesNothing}`,
    ),
    ironic: systemAdmin,
    closed: systemAdmin,
    says: 'Start a rollout that no other user has approved: who may start it, if it erases no data.',
  },
  {
    name: 'temper:rollout:approve',
    check: anyOf(
      `${manager} and system_scope:all and ${notOwnRequest}`,
      `${manager} and ${ownRollout} and 'own':%(rollout.projects)s and ${notOwnRequest}`,
    ),
    ironic: `${systemAdmin} and ${notOwnRequest}`,
    closed: `${systemAdmin} and ${notOwnRequest}`,
    says: 'Approve or reject the plan of another user’s rollout: managers of the system, and of its project if it alone uses the nodes.',
  },
  {
    name: 'temper:rollout:answer',
    check: `${manager} and project_id:%(rollout.tenant)s`,
    ironic: systemAdmin,
    closed: systemAdmin,
    says: 'Answer for a node that a rollout of another project wants to work on: managers of the project that uses the node.',
  },
  ...['skip', 'retry'].map((act) => ({
    name: `temper:rollout:${act}`,
    check: anyOf(systemMember, systemService, `${manager} and ${ownRollout}`),
    ironic: operators,
    closed: operators,
    says: `${act === 'skip' ? 'Pass over a node of a rollout' : 'Try a failed node of a rollout again'}: managers of the project that it belongs to.`,
  })),
  {
    name: 'temper:rollout:without_consent',
    check: '!',
    says: 'Interrupt the power of another project’s node by a rollout without asking that project: no caller.',
  },
  {
    name: 'temper:rollout:override_budget',
    check: '!',
    says: 'Take a node by a rollout though a disruption budget of its project has no room, for a reason that the project reads: no caller.',
  },
  {
    name: 'temper:usage:get',
    check: anyOf(systemReader, `role:reader and ${ownUsage}`, `role:service and ${ownUsage}`),
    ironic: systemReader,
    says: 'See how long a project has leased which nodes: readers of that project.',
  },
  {
    name: 'temper:node:audit:get',
    check: anyOf(systemReader, tenantReader, ownerService),
    ironic: systemReader,
    says: 'See who requested what on a node: readers of its owner and of its lessee, for the time since it is theirs.',
  },
  {
    name: 'temper:acknowledgement:get',
    check: anyOf(systemReader, ownerReader, ownerService),
    ironic: systemReader,
    says: 'See who has acknowledged the fault of a node, and the note: readers of its owner.',
  },
  {
    name: 'temper:acknowledgement:create',
    check: anyOf(systemMember, systemService, ownerMember, ownerService),
    ironic: operators,
    says: 'Acknowledge the fault of a node: members of its owner.',
  },
  {
    name: 'temper:audit:get',
    check: systemReader,
    says: 'Read the audit trail, which holds the requests of all callers: readers of the system.',
  },
  {
    name: 'temper:recovery:get',
    check: systemReader,
    says: 'See whether a restore of database or engine holds everything back: readers of the system.',
  },
  {
    name: 'temper:recovery:end',
    check: systemAdmin,
    says: 'See what is to be done after a restore, have it done, and end the recovery: system administrators.',
  },
  { name: 'temper:policy:explain', check: systemReader, says: 'Ask why a rule admits or refuses a caller.' },
  {
    name: 'temper:policy:history',
    check: systemReader,
    says: 'Read the texts of the policy files that were in force: readers of the system.',
  },
];

export const addedToIronic: readonly TemperRuleRow[] = addedRules.flatMap(({ ironic, ...row }) =>
  ironic === null ? [] : [{ ...row, check: ironic ?? row.check }],
);

export const addedToClosed: readonly TemperRuleRow[] = addedRules.map(({ ironic, closed, ...row }) => ({
  ...row,
  check: closed ?? ironic ?? row.check,
}));

export const registered = (rows: readonly TemperRuleRow[]): RegisteredRule[] =>
  rows.map(({ name, check, says }) => ({ name, check, says, scopes }));
