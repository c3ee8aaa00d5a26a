/** Fills placeholders of inspection rules, such as `{inventory[cpu][count]}`. */

type Facts = Readonly<Record<string, unknown>>;

// Readers of a rule's outcome may lack the permission for these; openstack/ironic:ironic/common/inspection_rules/base.py.
const hiddenKeys: readonly string[] = ['password', 'auth_token', 'bmc_password'];

const placeholder = /\{\{|\}\}|\{([a-z_]+)((?:\.\w+|\[[^\][{}]*\])*)\}/gi;

const valueAt = (value: unknown, key: string): unknown => {
  if (hiddenKeys.includes(key)) return '***';
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
};

const lookUp = (facts: Facts, root: string, path: string): unknown => {
  const keys = [...path.matchAll(/\.(\w+)|\[([^\]]*)\]/g)].map(([, name, key]) => name ?? key!);
  return keys.reduce<unknown>(valueAt, Object.hasOwn(facts, root) ? facts[root] : undefined);
};

const valueText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/**
 * A single placeholder keeps the type of its value. If a value is missing, the text stays unchanged, because rules apply to many kinds
 * of machines.
 */
const filled = (text: string, facts: Facts): unknown => {
  let missing = false;
  let whole: { value: unknown } | undefined;
  const result = text.replace(placeholder, (match, root: string | undefined, path: string) => {
    if (root === undefined) return match[0]!; // a doubled brace is a literal brace
    const value = lookUp(facts, root, path);
    if (value === undefined) missing = true;
    if (match === text) whole = { value };
    return valueText(value);
  });
  if (missing) return text;
  return whole ? whole.value : result;
};

export const fillIn = (value: unknown, facts: Facts): unknown => {
  if (typeof value === 'string') return filled(value, facts);
  if (Array.isArray(value)) return value.map((item) => fillIn(item, facts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [String(filled(key, facts)), fillIn(inner, facts)]),
  );
};

/** Undefined without a loop. */
export const itemsOf = (loop: unknown): readonly unknown[] | undefined => {
  if (loop === undefined || loop === null || loop === '') return undefined;
  if (Array.isArray(loop)) return loop.length > 0 ? loop : undefined;
  return [loop];
};
