/** Current roles of a user, from Keystone's records of user, scope, domains and delegation. */
import { z } from 'zod';
import type { Delegated } from '../model/access/callers';
import { type RoleScope, RolesReply, type UserRoles } from './keystone-assignments';
import { type AskAsService, Down } from './keystone-replies';

const InDomain = z.object({ enabled: z.boolean(), domain_id: z.string().nullish() });
const Enabled = z.object({ enabled: z.boolean() });
const Ending = z.object({ expires_at: z.string().nullish() });
const records = {
  user: z.object({ user: InDomain }).transform(({ user }) => user),
  project: z.object({ project: InDomain }).transform(({ project }) => project),
  domain: z.object({ domain: Enabled }).transform(({ domain }) => domain),
  application_credential: z.object({ application_credential: Ending }).transform((body) => body.application_credential),
  trust: z.object({ trust: Ending }).transform(({ trust }) => trust),
};

/** `gone`: not found. `denied`: our service user lacks the permission. Throws Down. */
const recordOf = async <Kind extends keyof typeof records>(
  ask: AskAsService,
  kind: Kind,
  path: string,
): Promise<z.output<(typeof records)[Kind]> | 'gone' | 'denied'> => {
  const { status, body } = await ask(path, {});
  if (status === 404) return 'gone';
  if (status === 403) return 'denied';
  const read = records[kind].safeParse(body);
  if (status !== 200 || !read.success) throw new Down(`the identity service answered ${status} and no ${kind}`);
  return read.data as z.output<(typeof records)[Kind]>;
};

type Standing = 'stands' | 'lost' | 'denied';
type Asked = { readonly user: string; readonly scope: RoleScope; readonly now: number };

/** A project's record stays enabled in a disabled domain, so the domain is checked too. */
const enabledWithDomain = async (ask: AskAsService, kind: 'user' | 'project', id: string): Promise<Standing> => {
  const record = await recordOf(ask, kind, `/${kind}s/${encodeURIComponent(id)}`);
  if (record === 'denied') return 'denied';
  if (record === 'gone' || !record.enabled) return 'lost';
  if (!record.domain_id) return 'stands';
  const domain = await recordOf(ask, 'domain', `/domains/${encodeURIComponent(record.domain_id)}`);
  if (domain === 'denied') return 'denied';
  return domain !== 'gone' && domain.enabled ? 'stands' : 'lost';
};

/** Checks revocation and expiry: Keystone keeps some expired records. */
const stillLent = async (ask: AskAsService, { user, now }: Asked, { by, id }: Delegated): Promise<Standing> => {
  // Only its own user may read an OAuth access token.
  if (by === 'oauth' || id === '') return 'denied';
  const path = {
    application_credential: `/users/${encodeURIComponent(user)}/application_credentials/${encodeURIComponent(id)}`,
    trust: `/OS-TRUST/trusts/${encodeURIComponent(id)}`,
  }[by];
  const record = await recordOf(ask, by, path);
  if (record === 'denied') return 'denied';
  if (record === 'gone') return 'lost';
  return record.expires_at && Date.parse(timeOf(record.expires_at)) <= now ? 'lost' : 'stands';
};

/** Keystone writes the expiry of application credentials in UTC without a zone. */
const timeOf = (text: string): string => (/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);

/** Disabled users keep their assignments, as do users of disabled projects and domains. So all records are read. Throws Down. */
export const rolesIn = async (ask: AskAsService, asked: Asked): Promise<UserRoles> => {
  const { user, scope } = asked;
  const standings = [
    await enabledWithDomain(ask, 'user', user),
    'project' in scope ? await enabledWithDomain(ask, 'project', scope.project) : 'stands',
    scope.delegated ? await stillLent(ask, asked, scope.delegated) : 'stands',
  ];
  if (standings.includes('lost')) return { is: 'known', roles: [] };
  if (standings.includes('denied')) return { is: 'denied' };
  const [key, value] = 'project' in scope ? ['scope.project.id', scope.project] : ['scope.system', scope.system];
  const query = new URLSearchParams({ 'user.id': user, [key]: value });
  const { status, body } = await ask(`/role_assignments?${query}&effective&include_names`, {});
  if (status === 403) return { is: 'denied' };
  const assignments = RolesReply.safeParse(body);
  if (status !== 200 || !assignments.success)
    throw new Down(`the identity service answered ${status} and no role assignments`);
  return { is: 'known', roles: assignments.data.role_assignments.map(({ role }) => role.name) };
};
