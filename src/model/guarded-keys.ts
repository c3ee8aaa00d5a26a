/** Keys of a node that say which BMC is spoken to and what boots on it, each with the rule that guards its change. */

/** Rules beside those of the fields: they are asked as well. */
export const keyRules = {
  bmcAddress: 'temper:node:update:bmc_address',
  bmcCredentials: 'temper:node:update:bmc_credentials',
  ramdisk: 'temper:node:update:ramdisk',
  kernelParams: 'temper:node:update:kernel_params',
  instanceBoot: 'temper:node:update:instance_boot',
  deployInterface: 'temper:node:update:deploy_interface',
} as const;

/** Fields whose keys are told apart. */
export const keyedFields = ['driver_info', 'instance_info'] as const;
type KeyedField = (typeof keyedFields)[number];

type Row = { readonly fields: readonly KeyedField[]; readonly keys: RegExp; readonly rule: string };

// The first row that fits decides. Also keys that no interface of this release reads: a later one, or another tool that
// shares the node, would.
const rows: readonly Row[] = [
  {
    fields: ['driver_info'],
    keys: /^(?:redfish_(?:username|password|auth_type)|ipmi_(?:username|password|hex_kg_key|priv_level))$/,
    rule: keyRules.bmcCredentials,
  },
  // Where it is, by which way, and whom to take for it.
  { fields: ['driver_info'], keys: /^(?:redfish|ipmi)_/, rule: keyRules.bmcAddress },
  { fields: keyedFields, keys: /^kernel_append_params$/, rule: keyRules.kernelParams },
  {
    fields: ['driver_info'],
    keys: /^(?:(?:deploy|rescue)_(?:iso|kernel|ramdisk)|bootloader)(?:_by_arch)?$|^(?:external_http_url|agent_verify_ca)$/,
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
  rows.find(({ fields, keys }) => fields.includes(field) && keys.test(key))?.rule;
