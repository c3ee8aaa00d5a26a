/** Who exists in the demo: projects, users with their roles and scopes, and application credentials. */
import { createHash } from 'node:crypto';
import { expandRoles } from '../../src/model/access/callers';

export const demoDomain = { id: 'default', name: 'Default' } as const;

/** A stable 32-hex id for a name, as Keystone's ids look. */
const idOf = (kind: string, name: string): string =>
  createHash('sha256').update(`temper demo ${kind} ${name}`).digest('hex').slice(0, 32);

/** Project ids by name; seeds and tests name owners and lessees by them, so they never change. */
export const demoProjects = {
  admin: 'a0000000000040008000000000000001',
  service: 'a0000000000040008000000000000002',
  'owner-project': 'a0000000000040008000000000000003',
  'lessee-project': 'a0000000000040008000000000000004',
  'stranger-project': 'a0000000000040008000000000000005',
} as const;
type DemoProject = keyof typeof demoProjects;

type Person = {
  readonly system?: readonly string[];
  readonly project?: DemoProject;
  readonly roles?: readonly string[];
};

const people: Readonly<Record<string, Person>> = {
  operator: { system: ['admin'], project: 'admin', roles: ['admin'] },
  'owner-manager': { project: 'owner-project', roles: ['manager'] },
  'owner-member': { project: 'owner-project', roles: ['member'] },
  'owner-reader': { project: 'owner-project', roles: ['reader'] },
  'lessee-manager': { project: 'lessee-project', roles: ['manager'] },
  'lessee-member': { project: 'lessee-project', roles: ['member'] },
  'lessee-reader': { project: 'lessee-project', roles: ['reader'] },
  'stranger-admin': { project: 'stranger-project', roles: ['admin'] },
  temper: { project: 'service', roles: ['service'] },
};

export type DemoUser = {
  readonly id: string;
  readonly name: string;
  readonly password: string;
  /** Expanded roles on the whole system; empty when there are none. */
  readonly systemRoles: readonly string[];
  readonly project: { readonly id: string; readonly name: string } | null;
  /** Expanded roles in the project. */
  readonly projectRoles: readonly string[];
};

export const demoUsers: readonly DemoUser[] = Object.entries(people).map(([name, person]) => ({
  id: idOf('user', name),
  name,
  password: `demo-${name}`,
  systemRoles: expandRoles(person.system ?? []),
  project: person.project ? { id: demoProjects[person.project], name: person.project } : null,
  projectRoles: expandRoles(person.roles ?? []),
}));

type AccessRule = {
  readonly id: string;
  readonly service: string;
  readonly method: string;
  readonly path: string;
};

export type DemoApplicationCredential = {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
  readonly user: string;
  /** Null when it may do all that its user may. */
  readonly accessRules: readonly AccessRule[] | null;
};

const reading = (path: string): AccessRule => ({
  id: idOf('access rule', path),
  service: 'baremetal',
  method: 'GET',
  path,
});

/** `<user>-app` for everyone in a project, and one that may only read nodes. Secrets: `demo-<name>`. */
export const demoApplicationCredentials: readonly DemoApplicationCredential[] = [
  ...demoUsers.map(({ name }) => ({ name: `${name}-app`, user: name, accessRules: null })),
  {
    name: 'owner-member-nodes-only',
    user: 'owner-member',
    accessRules: [reading('/v1/nodes'), reading('/v1/nodes/**')],
  },
].map((entry) => ({ ...entry, id: idOf('application credential', entry.name), secret: `demo-${entry.name}` }));

/** A role as tokens list it. */
export const roleEntry = (name: string): { id: string; name: string } => ({ id: idOf('role', name), name });

/** A catalog entry's id. */
export const serviceId = (type: string): string => idOf('service', type);
