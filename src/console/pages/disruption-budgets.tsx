/** Disruption budgets of projects: how many of their nodes may be unavailable at once. */
import type { DisruptionBudget } from '../../wire/records';
import { type Answers, Done } from '../parts/acts';
import { ActForm, Choice, Field, Lines, Send } from '../parts/forms';
import { Table } from '../parts/tables';
import { Empty, Notice, Project, Title } from '../parts/texts';
import { TitledSection } from '../parts/titled-section';
import type { ApiRefusal } from '../server/api';
import { type FormBody, type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { addressSaying } from '../server/session';
import {
  mayCreate,
  type ProjectRecord,
  type RecordFault,
  RecordTabs,
  Remove,
  recordAnswers,
  recordFault,
  removeRecord,
} from './project-records';

const kind: ProjectRecord = { resource: 'disruption_budget', page: '/windows/budgets', path: '/temper/v1/disruption-budgets', noun: 'disruption budget' }; // biome-ignore format: one row

const names = ['limit', 'amount', 'query', 'description'] as const;
type BudgetDraft = Readonly<Record<(typeof names)[number], string>>;

const untouched: BudgetDraft = { limit: 'max_unavailable', amount: '1', query: '', description: '' };

const draftIn = (form: FormBody): BudgetDraft =>
  Object.fromEntries(names.map((name) => [name, fieldOf(form, name)])) as BudgetDraft;

const queryText = ({ query }: DisruptionBudget): string =>
  Object.entries(query).map(([key, values]) => `${key}=${values.join(',')}`).join(' ') || 'all nodes'; // biome-ignore format: one line

const limitText = ({ max_unavailable: most, min_available: least }: DisruptionBudget): string =>
  most === null ? `at least ${least} available` : `at most ${most} unavailable`;

type ListProps = { readonly budgets: readonly DisruptionBudget[]; readonly answers: Answers; readonly session: PageContext['session'] }; // biome-ignore format: one row

const BudgetTable = ({ budgets, answers, session }: ListProps) => (
  <Table
    caption="Disruption budgets"
    rows={budgets}
    columns={[
      { title: 'Nodes', of: queryText },
      { title: 'Limit', of: limitText },
      { title: 'Of', of: ({ nodes }) => `${nodes}` },
      { title: 'Unavailable now', of: ({ unavailable }) => `${unavailable}` },
      { title: 'May be taken', of: ({ may_be_taken }) => `${may_be_taken}` },
      { title: 'Description', long: true, of: ({ description }) => description },
      { title: 'Project', of: ({ project }) => <Project id={project} /> },
      {
        title: 'Action',
        of: (budget) => (
          <Remove kind={kind} answers={answers} session={session} uuid={budget.uuid} says={limitText(budget)} will="Rollouts no longer keep to it." />
        ),
      },
    ]}
    empty={
      <Empty title="No disruption budgets">
        <p>A disruption budget limits how many nodes of a project rollouts of others may take at once.</p>
      </Empty>
    }
  />
); // biome-ignore format: short rows

type AddProps = { readonly draft: BudgetDraft; readonly fault?: RecordFault; readonly session: PageContext['session'] };

const AddBudget = ({ draft, fault, session }: AddProps) => {
  const given = (name: keyof BudgetDraft) => ({ name, value: draft[name], fault: fault?.field === name ? fault.says : undefined }); // biome-ignore format: one row
  return (
    <TitledSection title="Add a disruption budget">
      <ActForm session={session} action={kind.page} class="card form">
        <div class="row">
          <Choice label="Limit" {...given('limit')} options={[['max_unavailable', 'unavailable at most'], ['min_available', 'available at least']]} />
          <Field label="Nodes" {...given('amount')} hint="A number, or a share: 10%" required />
          <Field label="Description" {...given('description')} hint="Optional" />
        </div>
        <Lines label="Of the nodes with" {...given('query')} hint="One filter per line: resource_class=gold. Empty: all nodes of the project." />
        <div class="acts"><Send tone="primary" label="Add budget" /></div>
      </ActForm>
    </TitledSection>
  );
}; // biome-ignore format: one field a row

type Shown = { readonly draft?: BudgetDraft; readonly fault?: RecordFault; readonly status?: number };

const budgetPage = async (
  context: PageContext,
  { draft = untouched, fault, status }: Shown = {},
): Promise<PageAnswer> => {
  const { api, session, query } = context;
  const [found, answers] = await Promise.all([
    api.get<{ readonly disruption_budgets: readonly DisruptionBudget[] }>(kind.path, { limit: 1_000 }),
    recordAnswers(context, kind),
  ]);
  const body = (
    <>
      <Title text="Disruption budgets" />
      <RecordTabs page={kind.page} />
      <Done session={session} query={query} />
      {fault && !fault.field && <Notice tone="bad" role="alert" says={fault.says} />}
      <BudgetTable budgets={found.disruption_budgets} answers={answers} session={session} />
      {mayCreate(answers, kind) && <AddBudget draft={draft} fault={fault} session={session} />}
    </>
  );
  return { title: 'Disruption budgets', crumbs: [], body, ...(status && { status }) };
};

export const budgetsPage = (context: PageContext): Promise<PageAnswer> => budgetPage(context);

const fields = {
  max_unavailable: 'amount',
  min_available: 'amount',
  query: 'query',
  description: 'description',
} as const;

const amountOf = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);

/** A line without values has none, for the API to refuse: nodes whose class is its own key do not exist. */
const valuesIn = (line: string): string[] =>
  line.includes('=') ? line.slice(line.indexOf('=') + 1).split(',').map((value) => value.trim()) : []; // biome-ignore format: one line

/** `key=value,value`, one per line. */
const queryIn = (text: string): Record<string, string[]> =>
  Object.fromEntries(
    text
      .split(/[\n\r]+/)
      .map((line) => line.trim())
      .filter(Boolean)
      .map((line) => [line.split('=')[0]!.trim(), valuesIn(line)]),
  ); // biome-ignore format: short lines

const bodyOf = ({ limit, amount, query, description }: BudgetDraft) => ({
  [limit === 'min_available' ? 'min_available' : 'max_unavailable']: amountOf(amount),
  query: queryIn(query),
  description: description || null,
});

export const addBudget = async (context: FormContext): Promise<PageAnswer> => {
  const { api, form, session } = context;
  const draft = draftIn(form);
  try {
    await api.send('POST', kind.path, bodyOf(draft), fieldOf(form, 'key') || undefined);
    return { to: addressSaying(session, kind.page, 'The disruption budget is added. It holds from the next node on.') };
  } catch (thrown) {
    return budgetPage(context, { draft, fault: recordFault(thrown, fields), status: (thrown as ApiRefusal).status });
  }
};

export const removeBudget = removeRecord(kind);
