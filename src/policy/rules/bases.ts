/** Texts that many rules share, each with its `closed` text, which admits no project. */

/** Alternatives, each in its own parentheses. */
export const anyOf = (...alternatives: readonly string[]): string =>
  alternatives.map((text) => `(${text})`).join(' or ');

export const systemAdmin = 'role:admin and system_scope:all';
export const systemService = 'role:service and system_scope:all';
/** `service_role` admits one project's service users, if the deployment names the project. */
export const systemMember = '(role:member and system_scope:all) or rule:service_role';
export const systemReader =
  '(role:reader and system_scope:all) or (role:service and system_scope:all) or rule:service_role';
const systemOperator = anyOf(systemMember, systemService);

const owns = 'project_id:%(node.owner)s';
const leases = 'project_id:%(node.lessee)s';

export const ownerAdmin = `role:admin and ${owns}`;
export const ownerManager = `role:manager and ${owns}`;
export const ownerMember = `role:member and ${owns}`;
export const ownerReader = `role:reader and ${owns}`;
export const ownerService = `role:service and ${owns}`;
export const lesseeAdmin = `role:admin and ${leases}`;
const lesseeManager = `role:manager and ${leases}`;
export const tenantMember = `role:member and (${owns} or ${leases})`;
export const tenantReader = `role:reader and (${owns} or ${leases})`;

type BaseRow = { readonly text: string; readonly closed: string };

export const bases = {
  anyReader: { text: anyOf('role:reader', 'role:service'), closed: systemReader },
  systemReader: { text: systemReader, closed: systemReader },
  systemMember: { text: systemMember, closed: systemMember },
  systemAdmin: { text: systemAdmin, closed: systemAdmin },
  ownerAdmin: { text: ownerAdmin, closed: '!' },
  systemOrTenantReader: { text: anyOf(systemReader, tenantReader, ownerService), closed: systemReader },
  systemOrOwnerReader: { text: anyOf(systemReader, systemService, ownerReader, ownerService), closed: systemReader },
  systemOrTenantMember: { text: anyOf(systemMember, tenantMember, systemService), closed: systemOperator },
  systemOrOwnerMember: {
    text: anyOf(systemMember, systemService, ownerMember, ownerService),
    closed: systemOperator,
  },
  systemOrOwnerManager: {
    text: anyOf(systemMember, systemService, ownerAdmin, ownerManager, ownerService),
    closed: systemOperator,
  },
  systemAdminOrOwnerManager: {
    text: anyOf(systemAdmin, systemService, ownerAdmin, ownerManager, ownerService),
    closed: anyOf(systemAdmin, systemService),
  },
  systemOrOwnerMemberOrLesseeManager: {
    text: anyOf(systemMember, systemService, ownerMember, lesseeAdmin, lesseeManager, ownerService),
    closed: systemOperator,
  },
  systemOrTenantManager: {
    text: anyOf(systemMember, systemService, ownerAdmin, ownerManager, lesseeAdmin, lesseeManager, ownerService),
    closed: systemOperator,
  },
  targetPropertiesReader: { text: anyOf(systemReader, 'role:admin'), closed: systemReader },
  allocationReader: {
    text: anyOf(systemReader, 'role:reader and project_id:%(allocation.owner)s'),
    closed: systemReader,
  },
  allocationCreator: { text: anyOf(systemMember, 'role:member'), closed: systemMember },
  allocationMember: {
    text: anyOf(systemMember, 'role:member and project_id:%(allocation.owner)s'),
    closed: systemMember,
  },
  runbookReader: {
    // Ironic shows a public runbook to every caller without evaluating its rule.
    text: anyOf(
      systemReader,
      'role:reader and project_id:%(runbook.owner)s',
      'role:service',
      'True:%(runbook.public)s',
    ),
    closed: systemReader,
  },
  runbookCreator: { text: anyOf(systemMember, 'role:manager', 'role:service'), closed: systemOperator },
  runbookManager: {
    text: anyOf(systemMember, 'role:manager and project_id:%(runbook.owner)s', 'role:service'),
    closed: systemOperator,
  },
} as const satisfies Record<string, BaseRow>;

export type BaseName = keyof typeof bases;
