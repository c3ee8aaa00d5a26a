/** One act on several runs or nodes: one request for each in turn, with one reason. */
import { runActs } from '../../model/runs/run-acts';
import { Table } from '../parts/tables';
import { Notice, State, Title } from '../parts/texts';
import { ApiRefusal } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer } from '../server/context';
import { addressSaying } from '../server/session';
import { type Order, orderOf } from './node-acts';

/** Of one form; a group of equal ones is seldom larger. */
export const mostItems = 50;

/** An act of runs names each run with its step, by which the API refuses an act on another one. */
const runItem = /^([0-9a-f-]{36}):(\d+)$/;
const nodeItem = /^[0-9a-f-]{36}$/;

type Item = { readonly id: string; readonly order: Order };

const acts: readonly string[] = [...runActs, 'rerun'];

const runOrder = (form: FormContext['form'], item: string): Item | undefined => {
  const [, id, step] = runItem.exec(item) ?? [];
  const act = fieldOf(form, 'act');
  if (id === undefined || !acts.includes(act)) return undefined;
  const body = { reason: fieldOf(form, 'reason'), ...(act !== 'rerun' && { step: Number(step) }) };
  return { id, order: ['POST', `/temper/v1/runs/${id}/${act}`, body] };
};

const nodeOrder = (form: FormContext['form'], item: string): Item | undefined => {
  const order = nodeItem.test(item) ? orderOf(item, form) : undefined;
  return order && { id: item, order };
};

const ordersOf = (form: FormContext['form']): Item[] =>
  fieldOf(form, 'items')
    .split(',')
    .slice(0, mostItems)
    .flatMap((item) => (fieldOf(form, 'of') === 'runs' ? runOrder(form, item) : nodeOrder(form, item)) ?? []);

type ActResult = { readonly id: string; readonly says?: string };

/** A refusal ends only its own item. Throws ApiRefusal (401), ApiAway. */
const done = async ({ api, form }: FormContext, { id, order: [method, path, body] }: Item): Promise<ActResult> => {
  const key = fieldOf(form, 'key');
  try {
    await api.send(method, path, body, key ? `${key}:${id}` : undefined);
    return { id };
  } catch (thrown) {
    if (!(thrown instanceof ApiRefusal) || thrown.status === 401) throw thrown;
    return { id, says: thrown.says };
  }
};

const pagesWithActs: readonly string[] = ['/', '/inbox'];
const backTo = (form: FormContext['form']): string =>
  pagesWithActs.find((one) => one === fieldOf(form, 'from')) ?? '/inbox';

type OutcomesProps = { readonly outcomes: readonly ActResult[]; readonly refused: readonly ActResult[]; readonly kind: string; readonly back: string }; // biome-ignore format: one row

const Outcomes = ({ outcomes, refused, kind, back }: OutcomesProps) => (
  <>
    <Title text={`Done on ${outcomes.length - refused.length} of ${outcomes.length}`} />
    <Notice tone="bad" role="alert" says={`The API refused ${refused.length}. ${refused[0]?.says ?? ''}`} />
    <Table
      caption="Outcomes"
      rows={outcomes}
      columns={[
        { title: kind === 'runs' ? 'Run' : 'Node', of: ({ id }) => <a href={`/${kind}/${id}`}>{id.slice(0, 8)}</a> },
        { title: 'Outcome', of: ({ says }) => <State is={says ? 'refused' : 'done'} /> },
        { title: 'Why', long: true, of: ({ says }) => says },
      ]}
    />
    <p><a href={back}>Back to the page</a></p>
  </>
); // biome-ignore format: one table

/** Redirects to the page of the form if nothing was refused. */
export const actOnMany = async (context: FormContext): Promise<PageAnswer> => {
  const { form, session } = context;
  const items = ordersOf(form);
  const [kind, back] = [fieldOf(form, 'of') === 'runs' ? 'runs' : 'nodes', backTo(form)];
  const outcomes: ActResult[] = [];
  for (const item of items) outcomes.push(await done(context, item));
  const refused = outcomes.filter(({ says }) => says);
  if (refused.length > 0) {
    const [title, status] = refused.length === outcomes.length ? (['Refused', 409] as const) : (['Partly done', 200] as const);
    return { title, status, body: <Outcomes outcomes={outcomes} refused={refused} kind={kind} back={back} /> };
  }
  const will = `Done on ${outcomes.length} ${outcomes.length === 1 ? kind.slice(0, -1) : kind}.`;
  return { to: outcomes.length === 0 ? back : addressSaying(session, back, will) };
}; // biome-ignore format: short lines
