/** Form to plan a rollout. It starts nothing; a refusal keeps the typed values. */

import type { Rollout } from '../../wire/rollouts';
import { ActForm, Choice, Field, Lines, Send } from '../parts/forms';
import { Notice, Title } from '../parts/texts';
import { type Api, ApiRefusal } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import type { Session } from '../server/session';
import type { RunbookView } from '../views';
import { rolloutAddress } from './rollouts';

const verbs = ['service', 'clean', 'inspect', 'manage', 'provide'] as const;
const names = ['name', 'nodes', 'query', 'verb', 'runbook', 'first', 'soak', 'advance', 'budget', 'at_once', 'by', 'by_most'] as const; // biome-ignore format: one row of names
type Draft = Readonly<Record<(typeof names)[number], string>>;

const untouched: Draft = { name: '', nodes: '', query: '', verb: 'service', runbook: '', first: '1', soak: '', advance: 'manual', budget: '1%', at_once: '', by: '', by_most: '' }; // biome-ignore format: one row

/** The address holds the chosen nodes, or common filters. */
const draftOf = (address: string): Draft => {
  const given = [...new URL(address, 'http://console').searchParams];
  const nodes = given.filter(([name]) => name === 'node').map(([, value]) => value);
  const pairs = given.filter(([name]) => name !== 'node').map(([name, value]) => `${name}=${value}`);
  return { ...untouched, nodes: nodes.join('\n'), query: nodes.length > 0 ? '' : pairs.join('\n') };
};

const amountOf = (text: string): number | string | undefined => (/^\d+$/.test(text) ? Number(text) : text || undefined);
const linesOf = (text: string): string[] => text.split(/[\n\r]+/).map((line) => line.trim()).filter(Boolean); // biome-ignore format: one line

/** The API has defaults for empty fields. */
const bodyOf = (draft: Draft) => {
  const [nodes, pairs] = [linesOf(draft.nodes), linesOf(draft.query)];
  const query = Object.fromEntries(
    pairs.map((pair) => [pair.split('=')[0]!.trim(), pair.slice(pair.indexOf('=') + 1)]),
  );
  const first = draft.first && { size: amountOf(draft.first), soak: draft.soak || undefined, advance: draft.advance };
  return {
    name: draft.name || null,
    verb: draft.verb,
    runbook: draft.runbook || null,
    select: { ...(nodes.length > 0 && { nodes }), ...(pairs.length > 0 && { query }) },
    waves: [...(first ? [first] : []), { rest: true }],
    budget: { total: amountOf(draft.budget) },
    max_in_flight: amountOf(draft.at_once),
    ...(draft.by && { spread: [{ by: draft.by, max: amountOf(draft.by_most) ?? 1 }] }),
  };
};

type FormProps = { readonly draft: Draft; readonly runbooks: readonly RunbookView[]; readonly session: Session; readonly says?: string }; // biome-ignore format: one row

const PlanForm = ({ draft, runbooks, session, says }: FormProps) => (
  <>
    <Title text="Plan a rollout" />
    <p class="muted">One runbook or action on many nodes, in waves, within a budget of failures. A plan changes nothing.</p>
    {says && <Notice tone="bad" role="alert" says={says} />}
    <ActForm session={session} action="/rollouts/new" class="form">
      <fieldset>
        <legend>What</legend>
        <div class="row">
        <Choice label="Action" name="verb" value={draft.verb} options={verbs} />
        <Choice label="Runbook" name="runbook" value={draft.runbook} options={[['', 'none'], ...runbooks.map(({ name }) => name)]} />
        <Field label="Name" hint="Optional" name="name" value={draft.name} />
        </div>
      </fieldset>
      <fieldset>
        <legend>Which nodes</legend>
        <div class="two">
        <Lines label="Nodes" name="nodes" value={draft.nodes} hint="One name or ID per line" />
        <Lines label="Or all nodes with" name="query" value={draft.query} hint="One filter per line: resource_class=compute" />
        </div>
      </fieldset>
      <fieldset>
        <legend>How careful</legend>
        <div class="row">
        <Field label="First wave" name="first" value={draft.first} hint="Nodes or a share: 5%" />
        <Field label="Observe each node for" name="soak" value={draft.soak} hint="Optional: 30m" />
        <Choice label="Next wave opens" name="advance" value={draft.advance} options={[['manual', 'by a person'], ['auto', 'after the first']]} />
        <Field label="Failures at most" name="budget" value={draft.budget} hint="Nodes or a share. Also limits nodes at once." />
        <Field label="Nodes at once" name="at_once" value={draft.at_once} hint="Optional" />
        <Field label="Spread over" name="by" value={draft.by} hint="Optional: properties.rack" />
        <Field label="At once in each" name="by_most" value={draft.by_most} />
      </div>
      </fieldset>
      <div class="acts">
        <Send tone="primary" label="Create plan" />
      </div>
    </ActForm>
  </>
); // biome-ignore format: one field a row

const formPage = async (api: Api, props: Omit<FormProps, 'runbooks'>, status = 200): Promise<PageAnswer> => {
  const runbooks = (await api.findList<RunbookView>('/v1/runbooks', { limit: 200 })) ?? [];
  return { title: 'Plan a rollout', status, body: <PlanForm {...props} runbooks={runbooks} /> };
};

export const rolloutPlanPage = ({ api, session, path }: PageContext): Promise<PageAnswer> =>
  formPage(api, { draft: draftOf(path), session });

export const planRollout = async ({ api, session, form }: FormContext): Promise<PageAnswer> => {
  const draft = Object.fromEntries(names.map((name) => [name, fieldOf(form, name)])) as Draft;
  try {
    const key = fieldOf(form, 'key') || undefined;
    return { to: rolloutAddress(await api.send<Rollout>('POST', '/temper/v1/rollouts', bodyOf(draft), key)) };
  } catch (thrown) {
    if (!(thrown instanceof ApiRefusal) || thrown.status === 401) throw thrown;
    return formPage(api, { draft, session, says: thrown.says }, thrown.status);
  }
};
