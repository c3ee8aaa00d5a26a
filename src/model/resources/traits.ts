/** Traits: names of a node's capabilities and approvals. */

// The namespaces of openstack/os-traits, whose list grows with every release.
const standardNamespaces = ['HW', 'COMPUTE', 'STORAGE', 'MISC', 'OWNER'] as const;

const traitForm = new RegExp(`^(?:CUSTOM|${standardNamespaces.join('|')})_[A-Z0-9_]+$`);

export const maxTraitLength = 255;

/** Per object; openstack/ironic:ironic/objects/trait.py. */
export const maxTraits = 50;

/** 1 to 255 characters: `CUSTOM_` or a standard namespace, then capitals, digits and underscores. Future names of os-traits pass. */
export const isTrait = (text: string): boolean => text.length <= maxTraitLength && traitForm.test(text);

export const traitRefusal = (text: string): string =>
  `"${text.slice(0, 80)}" is not a trait; use CUSTOM_ or a standard namespace (${standardNamespaces.join('_, ')}_) followed by capitals, digits and underscores, at most ${maxTraitLength} characters`;
