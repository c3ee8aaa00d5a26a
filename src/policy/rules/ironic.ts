/** Rules of the bare metal API as in Ironic: name, shared text, and the former text and name. */
import type { RegisteredRule, Scope } from '../types';
import { type BaseName, bases } from './bases';

/** The old name is absent if it is the same. */
type IronicRuleRow = readonly [name: string, base: BaseName, oldText?: string, oldName?: string];

/** For callers of system or project scope. */
const anyScope: readonly IronicRuleRow[] = [
  ['baremetal:node:list', 'anyReader', 'rule:baremetal:node:get'],
  ['baremetal:node:list_all', 'systemReader', 'rule:baremetal:node:get'],
  ['baremetal:node:get', 'systemOrTenantReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:node:get:filter_threshold', 'systemReader', 'rule:is_admin or rule:is_observer', 'baremetal:node:get'],
  ['baremetal:node:get:last_error', 'systemOrOwnerReader', 'rule:is_admin or rule:is_observer', 'baremetal:node:get'],
  ['baremetal:node:get:reservation', 'systemOrOwnerReader', 'rule:is_admin or rule:is_observer', 'baremetal:node:get'],
  [
    'baremetal:node:get:driver_internal_info',
    'systemOrOwnerReader',
    'rule:is_admin or rule:is_observer',
    'baremetal:node:get',
  ],
  ['baremetal:node:get:driver_info', 'systemOrOwnerReader', 'rule:is_admin or rule:is_observer', 'baremetal:node:get'],
  ['baremetal:node:update:driver_info', 'systemOrOwnerMember', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:properties', 'systemOrOwnerMember', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:chassis_uuid', 'systemAdmin', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:instance_uuid', 'systemOrOwnerMember', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:lessee', 'systemOrOwnerMember', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:owner', 'systemMember', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:driver_interfaces', 'systemOrOwnerManager', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:network_data', 'systemOrOwnerMember', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:conductor_group', 'systemMember', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:name', 'systemOrOwnerMember', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update:retired', 'systemOrOwnerMember', 'rule:is_admin', 'baremetal:node:update'],
  ['baremetal:node:update', 'systemOrTenantMember', 'rule:is_admin'],
  ['baremetal:node:update_extra', 'systemOrTenantMember', 'rule:baremetal:node:update'],
  ['baremetal:node:update_instance_info', 'systemOrOwnerMemberOrLesseeManager', 'rule:baremetal:node:update'],
  ['baremetal:node:delete', 'systemAdmin', 'rule:is_admin'],
  ['baremetal:node:delete:self_owned_node', 'ownerAdmin'],
  ['baremetal:node:validate', 'systemOrOwnerMemberOrLesseeManager', 'rule:is_admin'],
  ['baremetal:node:set_maintenance', 'systemOrOwnerMemberOrLesseeManager', 'rule:is_admin'],
  ['baremetal:node:clear_maintenance', 'systemOrOwnerMemberOrLesseeManager', 'rule:is_admin'],
  ['baremetal:node:get_boot_device', 'systemOrOwnerManager', 'rule:is_admin or rule:is_observer'],
  ['baremetal:node:set_boot_device', 'systemOrOwnerManager', 'rule:is_admin', 'baremetal:node:set_maintenance'],
  ['baremetal:node:get_indicator_state', 'systemOrTenantReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:node:set_indicator_state', 'systemOrOwnerMember', 'rule:is_admin'],
  ['baremetal:node:inject_nmi', 'systemOrOwnerManager', 'rule:is_admin'],
  ['baremetal:node:get_states', 'systemOrTenantReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:node:set_power_state', 'systemOrTenantMember', 'rule:is_admin'],
  ['baremetal:node:set_boot_mode', 'systemOrTenantMember', 'rule:is_admin', 'baremetal:node:set_power_state'],
  ['baremetal:node:set_secure_boot', 'systemOrTenantMember', 'rule:is_admin', 'baremetal:node:set_power_state'],
  ['baremetal:node:set_provision_state', 'systemOrOwnerMemberOrLesseeManager', 'rule:is_admin'],
  ['baremetal:node:set_provision_state:clean_steps', 'systemOrOwnerMemberOrLesseeManager'],
  ['baremetal:node:set_provision_state:service_steps', 'systemOrOwnerMemberOrLesseeManager'],
  ['baremetal:node:set_raid_state', 'systemOrOwnerMember', 'rule:is_admin'],
  ['baremetal:node:get_console', 'systemOrOwnerMember', 'rule:is_admin'],
  ['baremetal:node:set_console_state', 'systemOrOwnerMember', 'rule:is_admin'],
  ['baremetal:node:vif:list', 'systemOrTenantReader', 'rule:is_admin'],
  ['baremetal:node:vif:attach', 'systemOrOwnerMemberOrLesseeManager', 'rule:is_admin'],
  ['baremetal:node:vif:detach', 'systemOrOwnerMemberOrLesseeManager', 'rule:is_admin'],
  ['baremetal:node:traits:list', 'systemOrTenantReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:node:traits:set', 'systemOrOwnerManager', 'rule:is_admin'],
  ['baremetal:node:traits:delete', 'systemOrOwnerManager', 'rule:is_admin'],
  ['baremetal:node:bios:get', 'systemOrTenantReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:node:disable_cleaning', 'systemAdmin', 'rule:baremetal:node:update'],
  ['baremetal:node:history:get', 'systemOrOwnerReader', 'rule:is_admin or rule:is_observer', 'baremetal:node:get'],
  ['baremetal:node:inventory:get', 'systemOrOwnerReader', 'rule:is_admin or rule:is_observer', 'baremetal:node:get'],
  ['baremetal:node:update:shard', 'systemAdmin'],
  ['baremetal:shards:get', 'systemReader'],
  ['baremetal:node:update:parent_node', 'systemMember'],
  ['baremetal:node:update:disable_power_off', 'systemAdmin'],
  ['baremetal:node:firmware:get', 'systemOrTenantReader'],
  ['baremetal:node:vmedia:attach', 'systemOrTenantMember'],
  ['baremetal:node:vmedia:detach', 'systemOrTenantMember'],
  ['baremetal:node:vmedia:get', 'systemOrTenantReader'],
  ['baremetal:port:get', 'systemOrTenantReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:port:list', 'anyReader', 'rule:baremetal:port:get'],
  ['baremetal:port:list_all', 'systemReader', 'rule:baremetal:port:get'],
  ['baremetal:port:create', 'systemAdminOrOwnerManager', 'rule:is_admin'],
  ['baremetal:port:delete', 'systemAdminOrOwnerManager', 'rule:is_admin'],
  ['baremetal:port:update', 'systemOrOwnerManager', 'rule:is_admin'],
  ['baremetal:portgroup:get', 'systemOrTenantReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:portgroup:create', 'systemAdminOrOwnerManager', 'rule:is_admin'],
  ['baremetal:portgroup:delete', 'systemAdminOrOwnerManager', 'rule:is_admin'],
  ['baremetal:portgroup:update', 'systemOrOwnerManager', 'rule:is_admin'],
  ['baremetal:portgroup:list', 'anyReader', 'rule:is_admin or rule:is_observer', 'baremetal:portgroup:get'],
  ['baremetal:portgroup:list_all', 'systemReader', 'rule:is_admin or rule:is_observer', 'baremetal:portgroup:get'],
  ['baremetal:node:vendor_passthru', 'systemAdmin', 'rule:is_admin'],
  ['baremetal:volume:list_all', 'systemReader', 'rule:is_admin or rule:is_observer', 'baremetal:volume:get'],
  ['baremetal:volume:list', 'anyReader', 'rule:is_admin or rule:is_observer', 'baremetal:volume:get'],
  ['baremetal:volume:get', 'systemOrTenantReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:volume:create', 'systemOrTenantManager', 'rule:is_admin'],
  ['baremetal:volume:delete', 'systemOrTenantManager', 'rule:is_admin'],
  ['baremetal:volume:update', 'systemOrOwnerMemberOrLesseeManager', 'rule:is_admin'],
  ['baremetal:volume:view_target_properties', 'targetPropertiesReader', 'rule:is_admin', 'baremetal:volume:update'],
  ['baremetal:conductor:get', 'systemReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:allocation:get', 'allocationReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:allocation:list', 'anyReader', 'rule:baremetal:allocation:get'],
  ['baremetal:allocation:list_all', 'systemReader', 'rule:baremetal:allocation:get and is_admin_project:True'],
  ['baremetal:allocation:create', 'allocationCreator', 'rule:is_admin and is_admin_project:True'],
  ['baremetal:allocation:create_restricted', 'systemMember', 'rule:baremetal:allocation:create'],
  ['baremetal:allocation:delete', 'allocationMember', 'rule:is_admin'],
  ['baremetal:allocation:update', 'allocationMember', 'rule:is_admin'],
  ['baremetal:deploy_template:get', 'systemReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:deploy_template:create', 'systemAdmin', 'rule:is_admin'],
  ['baremetal:deploy_template:delete', 'systemAdmin', 'rule:is_admin'],
  ['baremetal:deploy_template:update', 'systemAdmin', 'rule:is_admin'],
  ['baremetal:runbook:get', 'runbookReader'],
  ['baremetal:runbook:list', 'anyReader'],
  ['baremetal:runbook:list_all', 'systemReader'],
  ['baremetal:runbook:create', 'runbookCreator'],
  ['baremetal:runbook:delete', 'runbookManager'],
  ['baremetal:runbook:update', 'runbookManager'],
  ['baremetal:runbook:update:public', 'systemMember'],
  ['baremetal:runbook:update:owner', 'systemMember'],
  ['baremetal:runbook:use', 'runbookManager'],
  ['baremetal:inspection_rule:get', 'systemReader'],
  ['baremetal:inspection_rule:list_all', 'systemReader'],
  ['baremetal:inspection_rule:create', 'systemAdmin'],
  ['baremetal:inspection_rule:update', 'systemAdmin'],
  ['baremetal:inspection_rule:delete', 'systemAdmin'],
];

/** A project's token is refused, whatever its roles. */
const systemScope: readonly IronicRuleRow[] = [
  ['baremetal:node:update_owner_provisioned', 'systemAdmin', 'rule:is_admin'],
  ['baremetal:chassis:get', 'systemReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:chassis:create', 'systemAdmin', 'rule:is_admin'],
  ['baremetal:chassis:delete', 'systemAdmin', 'rule:is_admin'],
  ['baremetal:chassis:update', 'systemMember', 'rule:is_admin'],
  ['baremetal:driver:get', 'systemReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:driver:get_properties', 'systemReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:driver:get_raid_logical_disk_properties', 'systemReader', 'rule:is_admin or rule:is_observer'],
  ['baremetal:driver:vendor_passthru', 'systemAdmin', 'rule:is_admin'],
  ['baremetal:events:post', 'systemAdmin', 'rule:is_admin'],
];

/** Helpers, and rules without a scope. */
const helpers: Readonly<Record<string, string>> = {
  admin_api: 'role:admin or role:administrator',
  public_api: 'is_public_api:True',
  show_password: '!',
  show_instance_secrets: '!',
  service_role: 'role:service and project_name:%(config.service_project_name)s',
  is_member: '(project_domain_id:default or project_domain_id:None) and (project_name:demo or project_name:baremetal)',
  is_observer: 'rule:is_member and (role:observer or role:baremetal_observer)',
  is_admin: 'rule:admin_api or (rule:is_member and role:baremetal_admin)',
  is_node_owner: 'project_id:%(node.owner)s',
  is_node_lessee: 'project_id:%(node.lessee)s',
  is_allocation_owner: 'project_id:%(allocation.owner)s',
};

/** Rules with a text that no other rule shares. */
const ownText: readonly (RegisteredRule & { readonly closed: string })[] = [
  {
    name: 'baremetal:node:create',
    check: '(role:admin and system_scope:all) or (role:service and system_scope:all)',
    scopes: ['system', 'project'],
    deprecated: { name: 'baremetal:node:create', check: 'rule:is_admin' },
    closed: '(role:admin and system_scope:all) or (role:service and system_scope:all)',
  },
  {
    name: 'baremetal:node:create:self_owned_node',
    check: '(role:admin) or (role:service)',
    scopes: ['system', 'project'],
    closed: '!',
  },
  {
    name: 'baremetal:node:ipa_heartbeat',
    check: '',
    scopes: null,
    deprecated: { name: 'baremetal:node:ipa_heartbeat', check: 'rule:public_api' },
    closed: '',
  },
  {
    name: 'baremetal:driver:ipa_lookup',
    check: '',
    scopes: null,
    deprecated: { name: 'baremetal:driver:ipa_lookup', check: 'rule:public_api' },
    closed: '',
  },
  { name: 'baremetal:driver:ipa_continue_inspection', check: '', scopes: null, closed: '' },
  {
    name: 'baremetal:allocation:create_pre_rbac',
    check: '(rule:is_member and role:baremetal_admin) or (is_admin_project:True and role:admin)',
    scopes: ['project'],
    closed: '!',
  },
];

const register = (
  rows: readonly IronicRuleRow[],
  scopes: readonly Scope[],
  form: 'text' | 'closed',
): RegisteredRule[] =>
  rows.map(([name, base, oldText, oldName]) => ({
    name,
    check: bases[base][form],
    scopes,
    ...(oldText === undefined ? {} : { deprecated: { name: oldName ?? name, check: oldText } }),
  }));

const registerAll = (form: 'text' | 'closed'): RegisteredRule[] => [
  ...Object.entries(helpers).map(([name, check]) => ({ name, check, scopes: null })),
  ...ownText.map(({ closed, ...rule }) => (form === 'closed' ? { ...rule, check: closed } : rule)),
  ...register(anyScope, ['system', 'project'], form),
  ...register(systemScope, ['system'], form),
];

export const ironicRules: readonly RegisteredRule[] = registerAll('text');

/**
 * In set closed, a file that opens the second rule also opens the first. `update_extra` guards only notes and was once
 * part of `update`. A list shows only rows that the rule of its rows shows.
 */
const followers: Readonly<Record<string, string>> = {
  'baremetal:node:update_extra': 'rule:baremetal:node:update',
  ...Object.fromEntries(
    ['node', 'port', 'portgroup', 'volume', 'allocation', 'runbook'].map((what) => [
      `baremetal:${what}:list`,
      `rule:baremetal:${what}:get`,
    ]),
  ),
};

/** Without the projects' parts: only system callers pass. Old names have no effect. */
export const closedRules: readonly RegisteredRule[] = registerAll('closed').map(
  ({ deprecated: _deprecated, ...rule }) => ({ ...rule, check: followers[rule.name] ?? rule.check }),
);
