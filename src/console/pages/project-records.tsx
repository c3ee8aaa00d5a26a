/** Common parts of the pages of a project's windows, disruption budgets and webhooks: tabs, rights, removal and refusals. */
import { ActDialog, type Answers, askedRules, whyOff } from '../parts/acts';
import { ApiRefusal } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { addressSaying } from '../server/session';

export type ProjectRecord = {
  /** As in rules: `window`. */
  readonly resource: 'window' | 'disruption_budget' | 'webhook';
  readonly page: '/windows' | '/windows/budgets' | '/notifications';
  /** At the API. */
  readonly path: string;
  readonly noun: string;
};

export const RecordTabs = ({ page }: Pick<ProjectRecord, 'page'>) => (
  <nav class="tabs" aria-label="Windows and budgets">
    <a href="/windows" aria-current={page === '/windows' ? 'page' : undefined}>
      Windows
    </a>
    <a href="/windows/budgets" aria-current={page === '/windows/budgets' ? 'page' : undefined}>
      Disruption budgets
    </a>
  </nav>
);

const recordRules = ({ resource }: ProjectRecord) =>
  ({ create: `temper:${resource}:create`, delete: `temper:${resource}:delete` }) as const;

/** About records of the caller's own project. */
export const recordAnswers = ({ api }: Pick<PageContext, 'api'>, kind: ProjectRecord): Promise<Answers> =>
  askedRules(api, Object.values(recordRules(kind)).map((rule) => ({ rule }))); // biome-ignore format: one question

export const mayCreate = (answers: Answers, kind: ProjectRecord): boolean =>
  answers.get(recordRules(kind).create)?.allowed === true;

type RemoveProps = { readonly kind: ProjectRecord; readonly answers: Answers; readonly session: PageContext['session']; readonly uuid: string; readonly says: string; readonly will: string }; // biome-ignore format: one row

/** Nothing for those whom the rule does not admit. */
export const Remove = ({ kind, answers, session, uuid, says, will }: RemoveProps) => {
  const id = `remove-${uuid}`;
  const offer = { name: 'remove', label: `Remove ${says}`, rule: recordRules(kind).delete, will, danger: true, withoutReason: true };
  if (whyOff(offer, answers) !== undefined) return null;
  return (
    <>
      <button type="button" class="danger" popovertarget={id} aria-label={offer.label}>
        Remove
      </button>
      <ActDialog offer={offer} session={session} action={`${kind.page}/${uuid}/remove`} id={id} />
    </>
  );
}; // biome-ignore format: short lines

export type RecordFault = { readonly field: string | undefined; readonly says: string };

/** The API begins a refusal of a field with its name. Throws what is no refusal. */
export const recordFault = (thrown: unknown, fields: Readonly<Record<string, string>>): RecordFault => {
  if (!(thrown instanceof ApiRefusal) || thrown.status === 401) throw thrown;
  const [begins = '', name = ''] = /^([a-z_]+)(?:\.[^:]*)?: /.exec(thrown.says) ?? [];
  const field = fields[name];
  return { field, says: field ? thrown.says.slice(begins.length) : thrown.says };
};

export const removeRecord =
  (kind: ProjectRecord) =>
  async ({ api, params, form, session }: FormContext): Promise<PageAnswer> => {
    await api.send('DELETE', `${kind.path}/${encodeURIComponent(params.record!)}`, undefined, fieldOf(form, 'key') || undefined);
    return { to: addressSaying(session, kind.page, `The ${kind.noun} is removed.`) };
  }; // biome-ignore format: one request
