/** Parts of a node with additional policy rules: its BMC, its boot images, its cleaning. */

/** These rules apply in addition to those of the fields. */
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

export const keyedFields = ['driver_info', 'instance_info'] as const;
type KeyedField = (typeof keyedFields)[number];

type GuardRow = { readonly fields: readonly KeyedField[]; readonly keys: RegExp; readonly rule: string };

// The first matching row decides. Some keys are unused in this release, but a later one or another tool may read them.
const guardRows: readonly GuardRow[] = [
  {
    fields: ['driver_info'],
    keys: /^(?:redfish_(?:username|password|auth_type)|ipmi_(?:username|password|hex_kg_key|priv_level)|(?:ilo|drac|irmc)_(?:username|password))$/,
    rule: keyRules.bmcCredentials,
  },
  // Address, route and certificate authority of the BMC.
  { fields: ['driver_info'], keys: /^(?:redfish|ipmi|ilo|drac|irmc)_|^client_port$/, rule: keyRules.bmcAddress },
  { fields: keyedFields, keys: /^kernel_append_params$/, rule: keyRules.kernelParams },
  {
    fields: ['driver_info'],
    // The ramdisk, its erasure, and its proxies for images.
    keys: /^(?:(?:deploy|rescue)_(?:iso|kernel|ramdisk)|bootloader)(?:_by_arch)?$|^(?:external_http_url|agent_.*|disk_erasure_concurrency|image_(?:https?|no)_proxy)$/,
    rule: keyRules.ramdisk,
  },
  {
    fields: ['instance_info'],
    keys: /^(?:boot_iso|kernel|ramdisk|stage2|ks_cfg|ks_template)$/,
    rule: keyRules.instanceBoot,
  },
];

/** Undefined if only the field's rule applies. */
export const ruleOfKey = (field: KeyedField, key: string): string | undefined =>
  guardRows.find(({ fields, keys }) => fields.includes(field) && keys.test(key))?.rule;

type GuardedField = {
  readonly field: string;
  /** Value of a node without this field. */
  readonly otherwise: unknown;
  rule(value: unknown): string;
};

/** The resource class selects the runbook that cleans a node. Maintenance has a route with rules, which PATCH must not bypass. */
const guardedFields: readonly GuardedField[] = [
  { field: 'resource_class', otherwise: null, rule: () => keyRules.resourceClass },
  {
    field: 'maintenance',
    otherwise: false,
    rule: (value) => (value === true ? keyRules.setMaintenance : keyRules.clearMaintenance),
  },
];

type GuardedKeyValues = Readonly<Record<string, unknown>>;

export const rulesOfFields = (before: GuardedKeyValues, after: GuardedKeyValues): string[] =>
  guardedFields.flatMap(({ field, otherwise, rule }) =>
    (before[field] ?? otherwise) === (after[field] ?? otherwise) ? [] : [rule(after[field] ?? otherwise)],
  );
