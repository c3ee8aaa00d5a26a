/** Shared by the policy suites: reading the data files and making callers. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anonymous, type Caller, expandRoles } from '../../src/model/access/callers';

/** A JSON file of test/policy/data. */
export const readData = <Shape>(name: string): Shape =>
  JSON.parse(readFileSync(join(__dirname, 'data', name), 'utf8')) as Shape;

/** A caller with a role in a project. */
export const inProject = (project: string, ...roles: string[]): Caller => ({
  ...anonymous,
  user_id: `user-of-${project}`,
  project_id: project,
  project_name: `${project}-name`,
  project_domain_id: 'default',
  roles: expandRoles(roles),
  strategy: 'static_tokens',
});

/** A caller with a role in the whole system. */
export const inSystem = (...roles: string[]): Caller => ({
  ...anonymous,
  user_id: 'user-of-system',
  system_scope: 'all',
  roles: expandRoles(roles),
  strategy: 'static_tokens',
});
