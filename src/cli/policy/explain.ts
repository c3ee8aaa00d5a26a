/** `temper policy explain`: why a rule admits or refuses a caller, from files alone or asked of the API. */
import { type Caller, expandRoles, nobody } from '../../model/callers';
import { type Explanation, type PersonaName, personas, type Target } from '../../policy';
import type { Context } from '../context';
import { exits, stop } from '../faults';
import { explanationText } from './explanation-text';
import { type Chosen, policyOf } from './source';

export type Asked = Chosen & {
  readonly file?: string;
  readonly as?: string;
  readonly roles?: string;
  readonly project?: string;
  readonly system?: boolean;
  readonly adminOf?: string;
  readonly owner?: string;
  readonly lessee?: string;
  readonly public?: boolean;
  readonly tenant?: string;
  readonly node?: string;
  readonly runbook?: string;
  readonly allocation?: string;
};

const strategy = 'static_tokens';

const namesIn = (list = ''): string[] => list.split(',').filter((name) => name !== '');

/** Who is asked about. Personas are those of the matrix. */
const callerOf = ({ as, roles, project, system, adminOf }: Asked): { who: Caller; name: string } => {
  const admin_projects = namesIn(adminOf);
  if (as !== undefined) {
    if (!Object.hasOwn(personas, as))
      return stop('usage', `--as must be one of ${Object.keys(personas).join(', ')}; ${as} came.`);
    return { who: { ...personas[as as PersonaName], admin_projects }, name: as };
  }
  if (roles === undefined) return stop('usage', 'Say who: --as <persona>, or --roles with --project or --system.');
  const given = namesIn(roles);
  const scope = system ? { system_scope: 'all' } : { project_id: project ?? null, project_name: project ?? null };
  const name = `${given.join(', ')} of ${system ? 'the system' : (project ?? 'no project')}`;
  return {
    who: { ...nobody, user_id: 'somebody', roles: expandRoles(given), admin_projects, strategy, ...scope },
    name,
  };
};

const idOf = (given: string | undefined, otherwise: string): string | null =>
  given === 'none' ? null : (given ?? otherwise);

/** The object, by default the first of its kind in the matrix: one project's, leased to another. */
const targetOf = ({ owner, lessee, public: open, tenant }: Asked): Target => {
  const theirs = idOf(owner, 'project-owner');
  return {
    'node.owner': theirs,
    'node.lessee': idOf(lessee, 'project-lessee'),
    'runbook.owner': open ? null : theirs,
    'runbook.public': open ?? false,
    'run.tenant': idOf(tenant, 'project-lessee'),
    'allocation.owner': theirs,
  };
};

const kinds = ['node', 'runbook', 'allocation'] as const;

/** What the API answers about an object of its own. */
const fromApi = async ({ api }: Context, rule: string, asked: Asked): Promise<Explanation & { name: string }> => {
  const query = new URLSearchParams({ rule });
  for (const kind of kinds) if (asked[kind] !== undefined) query.set(kind, asked[kind]);
  const answer = (await api.send('GET', `/temper/v1/policy/explain?${query}`)) as Explanation;
  return { ...answer, name: 'these credentials' };
};

const fromFiles = ({ hands }: Context, rule: string, asked: Asked): Explanation & { name: string } => {
  const { policy } = policyOf(hands, asked.file, asked);
  const { who, name } = callerOf(asked);
  return { ...policy.explain(rule, who, targetOf(asked)), name };
};

/** The exit status tells the verdict: 0 allowed, 1 refused. */
export const explain = async (context: Context, rule: string, asked: Asked): Promise<void> => {
  const remote = kinds.some((kind) => asked[kind] !== undefined);
  const { name, ...explanation } = remote ? await fromApi(context, rule, asked) : fromFiles(context, rule, asked);
  context.print(explanation, (one) => explanationText(one, name));
  context.end(explanation.verdict === 'allowed' ? exits.ok : exits.refused);
};
