/** What a trait is: the mark by which a node says what it can do and what it is approved for. */

// The namespaces of openstack/os-traits, whose list grows with every release of it.
const standardNamespaces = ['HW', 'COMPUTE', 'STORAGE', 'MISC', 'OWNER'] as const;

const traitForm = new RegExp(`^(?:CUSTOM|${standardNamespaces.join('|')})_[A-Z0-9_]+$`);

export const maxTraitLength = 255;

/** At most this many traits on one object; openstack/ironic:ironic/objects/trait.py. */
export const maxTraits = 50;

/**
 * Whether a text is a trait: 1-255 characters, `CUSTOM_` or a standard namespace, then capitals, digits and underscores.
 * Standard traits are accepted by namespace, not by list: a name that os-traits does not know yet passes here.
 */
export const isTrait = (text: string): boolean => text.length <= maxTraitLength && traitForm.test(text);

/** What a refusal of a trait says. */
export const traitRefusal = (text: string): string =>
  `"${text.slice(0, 80)}" is not a trait; use CUSTOM_ or a standard namespace (${standardNamespaces.join('_, ')}_) followed by capitals, digits and underscores, at most ${maxTraitLength} characters`;
