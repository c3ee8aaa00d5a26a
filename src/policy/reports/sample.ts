/** Sample policy file: every rule of a set, commented out. */
import { ruleSets } from '../rules/sets';
import type { RegisteredRule, RuleSetName } from '../types';

const headOf = (
  set: RuleSetName,
): string => `# Every rule of set "${set}" with its default text. Copy the lines that you want to change into another file, remove
# the leading "# ", and name that file in TEMPER_POLICY_FILE. A line replaces the whole text of its rule; rules
# that are not in the file keep their default. The file is read again when it changes; one that cannot be used is
# refused, and the rules before it stay in force.
#
# The text "@" admits every caller, "!" no caller. A rule named baremetal:step:execute:<interface>.<step> may be added: raw
# steps, and steps of a project's own runbooks, then need it.
`;

// An empty text looks like an accident. "@" means the same and is explicit.
const everybody = '@';

const entry = ({ name, check, scopes, says }: RegisteredRule): string =>
  [
    ...(says ? [`# ${says}`] : []),
    ...(scopes ? [`# Callers of scope: ${scopes.join(', ')}`] : []),
    `# ${JSON.stringify(name)}: ${JSON.stringify(check === '' ? everybody : check)}`,
  ].join('\n');

export const renderSample = (set: RuleSetName): string =>
  `${[headOf(set).trimEnd(), ...ruleSets[set].map(entry)].join('\n\n')}\n`;
