/** Parts of a node whose change has a rule beside that of their field: what says which BMC is spoken to, what boots, how it is cleaned. */

/** Rules beside those of the fields: they are asked as well. */
export const keyRules = {
  bmcAddress: 'temper:node:update:bmc_address',
  bmcCredentials: 'temper:node:update:bmc_credentials',
  ramdisk: 'temper:node:update:ramdisk',
  kernelParams: 'temper:node:update:kernel_params',
  instanceBoot: 'temper:node:update:instance_boot',
  deployInterface: 'temper:node:update:deploy_interface',
  resourceClass: 'temper:node:update:resource_class',
  setMaintenance: 'temper:node:update:set_maintenance',
  clearMaintenance: 'temper:node:update:clear_maintenance',
} as const;

/** Fields whose keys have rules of their own. */
export const keyedFields = ['driver_info', 'instance_info'] as const;
type KeyedField = (typeof keyedFields)[number];

type GuardRow = { readonly fields: readonly KeyedField[]; readonly keys: RegExp; readonly rule: string };

// The first row that fits decides. Also keys that no interface of this release reads: a later one, or another tool that
// shares the node, would.
const guardRows: readonly GuardRow[] = [
  {
    fields: ['driver_info'],
    keys: /^(?:redfish_(?:username|password|auth_type)|ipmi_(?:username|password|hex_kg_key|priv_level)|(?:ilo|drac|irmc)_(?:username|password))$/,
    rule: keyRules.bmcCredentials,
  },
  // Where it is, by which way, and whom to take for it.
  { fields: ['driver_info'], keys: /^(?:redfish|ipmi|ilo|drac|irmc)_|^client_port$/, rule: keyRules.bmcAddress },
  { fields: keyedFields, keys: /^kernel_append_params$/, rule: keyRules.kernelParams },
  {
    fields: ['driver_info'],
    // Which ramdisk it is, how thoroughly that erases, and through what it fetches images.
    keys: /^(?:(?:deploy|rescue)_(?:iso|kernel|ramdisk)|bootloader)(?:_by_arch)?$|^(?:external_http_url|agent_.*|disk_erasure_concurrency|image_(?:https?|no)_proxy)$/,
    rule: keyRules.ramdisk,
  },
  {
    fields: ['instance_info'],
    keys: /^(?:boot_iso|kernel|ramdisk|stage2|ks_cfg|ks_template)$/,
    rule: keyRules.instanceBoot,
  },
];

/** The rule that guards a key of a field; undefined where the field's own rule is all. */
export const ruleOfKey = (field: KeyedField, key: string): string | undefined =>
  guardRows.find(({ fields, keys }) => fields.includes(field) && keys.test(key))?.rule;

type GuardedField = {
  readonly field: string;
  /** What a node has that does not say. */
  readonly otherwise: unknown;
  /** The rule for the new value. */
  rule(value: unknown): string;
};

/**
 * Fields that are guarded as a whole. The resource class says by which runbook a node is cleaned, and maintenance has a route
 * with rules of its own, past which no patch leads.
 */
const guardedFields: readonly GuardedField[] = [
  { field: 'resource_class', otherwise: null, rule: () => keyRules.resourceClass },
  {
    field: 'maintenance',
    otherwise: false,
    rule: (value) => (value === true ? keyRules.setMaintenance : keyRules.clearMaintenance),
  },
];

type GuardedKeyValues = Readonly<Record<string, unknown>>;

/** The rules of the guarded fields that differ between two states of a node. */
export const rulesOfFields = (before: GuardedKeyValues, after: GuardedKeyValues): string[] =>
  guardedFields.flatMap(({ field, otherwise, rule }) =>
    (before[field] ?? otherwise) === (after[field] ?? otherwise) ? [] : [rule(after[field] ?? otherwise)],
  );
