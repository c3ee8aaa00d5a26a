/** `temper policy explain`: explains a decision, from files or by the API. */

import { anonymous, type Caller, expandRoles } from '../../model/access/callers';
import { meant } from '../../model/nearest';
import { namesInList } from '../../model/texts';
import { type Answered, explainAnswer, type PersonaName, personas, ruleNames, type Target } from '../../policy';
import type { Context } from '../context';
import { exits, stop } from '../faults';
import { explanationText } from './explanation-text';
import { type Chosen, policyOf } from './source';

export type ExplainOptions = Chosen & {
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

/** Personas are those of the matrix. */
const callerOf = ({ as, roles, project, system, adminOf }: ExplainOptions): { who: Caller; name: string } => {
  const admin_projects = namesInList(adminOf);
  if (as !== undefined) {
    if (!Object.hasOwn(personas, as))
      return stop('usage', `--as must be one of ${Object.keys(personas).join(', ')}; ${as} came.`);
    return { who: { ...personas[as as PersonaName], admin_projects }, name: as };
  }
  if (roles === undefined) return stop('usage', 'Say who: --as <persona>, or --roles with --project or --system.');
  const given = namesInList(roles);
  const scope = system ? { system_scope: 'all' } : { project_id: project ?? null, project_name: project ?? null };
  const name = `${given.join(', ')} of ${system ? 'the system' : (project ?? 'no project')}`;
  return {
    who: { ...anonymous, user_id: 'somebody', roles: expandRoles(given), admin_projects, strategy, ...scope },
    name,
  };
};

const idOf = (given: string | undefined, otherwise: string): string | null =>
  given === 'none' ? null : (given ?? otherwise);

/** By default the matrix's first object: owned by one project and leased to another. */
const exampleTarget = ({ owner, lessee, public: open, tenant }: ExplainOptions): Target => {
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

const targetKinds = ['node', 'runbook', 'allocation'] as const;

type Projects = { readonly owner: string | null; readonly lessee?: string | null };

/** A persona's name refers to the object's projects. */
const projectsOf = async ({ api }: Context, asked: ExplainOptions): Promise<Projects> => {
  const kind = targetKinds.find((one) => asked[one] !== undefined)!;
  const fields = kind === 'node' ? '?fields=owner,lessee' : '?fields=owner';
  return (await api.send('GET', `/v1/${kind}s/${encodeURIComponent(asked[kind]!)}${fields}`)) as Projects;
};

/** Throws CliFault if the object has no such project. */
const projectOf = async (context: Context, who: Caller, asked: ExplainOptions): Promise<string | null> => {
  const group = /^project-(owner|lessee)$/.exec(who.project_id ?? '')?.[1] as keyof Projects | undefined;
  if (asked.as === undefined || group === undefined) return who.project_id;
  const project = (await projectsOf(context, asked))[group];
  return project ?? stop('usage', `${asked.as} cannot be asked about: the object has no ${group}.`);
};

const madeUp = async (
  context: Context,
  asked: ExplainOptions,
): Promise<{ query: Record<string, string>; name: string }> => {
  if (asked.as === undefined && asked.roles === undefined) return { query: {}, name: 'these credentials' };
  const { who, name } = callerOf(asked);
  const project_id = await projectOf(context, who, asked);
  const query = {
    roles: who.roles.join(','),
    ...(who.system_scope ? { system: 'true' } : project_id !== null && { project_id }),
    ...(who.admin_projects?.length && { admin_projects: who.admin_projects.join(',') }),
  };
  return { query, name: project_id === null ? name : `${name} (project ${project_id})` };
};

/** Decision on an object of the API, for these credentials or a hypothetical caller. */
const fromApi = async (context: Context, rule: string, asked: ExplainOptions): Promise<Answered & { name: string }> => {
  const { query: caller, name } = await madeUp(context, asked);
  const query = new URLSearchParams({ rule });
  for (const kind of targetKinds) if (asked[kind] !== undefined) query.set(kind, asked[kind]);
  for (const [key, value] of Object.entries(caller)) query.set(key, value);
  const answer = (await context.api.send('GET', `/temper/v1/policy/explain?${query}`)) as Answered;
  return { ...answer, answer: answer.answer ?? answer.verdict, name };
};

const fromFiles = ({ deps }: Context, rule: string, asked: ExplainOptions): Answered & { name: string } => {
  const { policy } = policyOf(deps, asked.file, asked);
  const { who, name } = callerOf(asked);
  return { ...explainAnswer(policy, rule, who, exampleTarget(asked)), name };
};

/** Exit status: 0 allowed, 1 refused or missing, 2 if no rule has this name. */
export const explain = async (context: Context, rule: string, asked: ExplainOptions): Promise<void> => {
  const remote = targetKinds.some((kind) => asked[kind] !== undefined);
  const { name, ...explanation } = remote ? await fromApi(context, rule, asked) : fromFiles(context, rule, asked);
  if (explanation.why === 'unknown') return stop('usage', `There is no rule ${rule}.${meant(rule, ruleNames)}`);
  context.print(explanation, (one) => explanationText(one, name));
  context.end(explanation.answer === 'allowed' ? exits.ok : exits.refused);
};
