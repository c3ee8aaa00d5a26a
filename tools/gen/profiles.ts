/** What the committed policy profiles change: one text for each, which a changed rule changes too. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  createPolicy,
  customRoles,
  diffPolicies,
  membersWith,
  type RuleSetName,
  readPolicy,
  renderDifference,
  supportersFor,
} from '../../src/policy';

/** The profiles of deploy/policies, each with the set that it is meant for. */
export const profiles = {
  'safe-operator': 'temper',
  'project-manager': 'temper',
  'support-admin': 'temper',
  metalsmith: 'closed',
} as const satisfies Record<string, RuleSetName>;

/** The repository, seen from here and from where this is built to. */
const rootOf = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : rootOf(dirname(folder));

/** test/policy/data/profile-<name>.txt */
export const renderProfile = (name: keyof typeof profiles): string => {
  const file = `${name}.yaml`;
  const text = readFileSync(join(rootOf(__dirname), 'deploy/policies', file), 'utf8');
  const source = readPolicy(text, file);
  const set = profiles[name];
  const policy = createPolicy({ set, ...source });
  const members = [...membersWith(customRoles(source.overrides)), ...supportersFor(source.overrides)];
  return renderDifference(diffPolicies(createPolicy({ set }), policy, members));
};
