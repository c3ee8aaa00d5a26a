/** Planner of a rollout in four steps, with a preview. A refusal keeps the typed values and is shown in its field. */
import { powerTargets } from '../../model/lifecycle/states';
import type { Rollout, RolloutPreview } from '../../wire/rollouts';
import { ActForm, Choice, Field, Lines, Send } from '../parts/forms';
import { Notice, Title } from '../parts/texts';
import { type Api, ApiAway, ApiRefusal } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { addressSaying, type Session } from '../server/session';
import type { RunbookView } from '../views';
import {
  beginOf,
  choosesNodes,
  type Draft,
  type DraftFault,
  type DraftField,
  draftAt,
  draftFault,
  draftIn,
  ownFault,
  type Pace,
  paces,
  planBody,
  runbookVerbs,
} from './rollout-draft';
import { PreviewCard, type Previewed } from './rollout-preview';
import { rolloutAddress } from './rollouts';

const verbs = ['inspect', 'manage', 'provide'] as const;

const worksOf = (runbooks: readonly RunbookView[], chosen = '') => {
  const known = knownWorks(runbooks);
  // A runbook that the list does not have must not become another one.
  return chosen === '' || known.some(([value]) => value === chosen) ? known : [[chosen, chosen] as const, ...known];
};

const knownWorks = (runbooks: readonly RunbookView[]) => [
  ...runbooks.map(({ name }) => [`runbook:${name}`, `Runbook ${name}`] as const),
  ...verbs.map((verb) => [`verb:${verb}`, verb] as const),
  ...Object.keys(powerTargets).map((target) => [`power:${target}`, target] as const),
];

type FormProps = {
  readonly draft: Draft;
  readonly runbooks: readonly RunbookView[];
  readonly session: Session;
  readonly fault?: DraftFault;
  readonly previewed: Previewed;
};

type StepProps = {
  readonly given: (field: DraftField) => { name: DraftField; value: string; fault: string | undefined };
};

const What = ({ given, runbooks }: StepProps & Pick<FormProps, 'runbooks'>) => (
  <fieldset>
    <legend>1 · What</legend>
    <div class="row">
      <Choice label="Work" {...given('work')} options={worksOf(runbooks, given('work').value)} />
      <Choice label="For a runbook" {...given('verb')} options={[[runbookVerbs[0], 'nodes in use (service)'], [runbookVerbs[1], 'free nodes (clean)']]} />
      <Field label="Name" hint="Optional" {...given('name')} />
    </div>
    <details id="parameters" open={given('parameters').value !== ''}>
      <summary>Parameters of the runbook</summary>
      <Lines label="Parameters" hint="One per line: target_version=2.1" {...given('parameters')} />
    </details>
  </fieldset>
); // biome-ignore format: one field a row

const Which = ({ given }: StepProps) => (
  <fieldset>
    <legend>2 · Which</legend>
    <div class="two">
      <Lines label="Nodes" hint="One name or ID per line" {...given('nodes')} />
      <Lines label="Or all nodes with" hint="One filter per line: resource_class=compute" {...given('query')} />
    </div>
  </fieldset>
);

const paceText = ({ first, soak, advance, budget, mode, at_once }: Pace): string =>
  [
    `first ${first === '1' ? '1 node' : first}${soak ? `, observed for ${soak}` : ''}, then ${advance === 'manual' ? 'a person opens the rest' : 'the rest'}`,
    `${mode === 'stop' ? `stops after ${budget} failures` : `${budget} ${budget === '1' ? 'failure' : 'failures'} at most`}`,
    `${at_once} at once`,
  ].join(' · ');

const PaceChoice = ({
  value,
  label,
  says,
  chosen,
}: {
  value: string;
  label: string;
  says: string;
  chosen: boolean;
}) => (
  <label class="pace">
    <input type="radio" name="pace" value={value} checked={chosen} />
    <b>{label}</b>
    <span class="muted">{says}</span>
  </label>
);

const labels = { careful: 'Careful', steady: 'Steady', fast: 'Fast' } as const;

const OwnNumbers = ({ given }: StepProps) => (
  <div class="own row">
    <Field label="First wave" hint="Nodes, or a share: 5%" {...given('first')} />
    <Field label="Observe its nodes for" hint="Optional: 30m" {...given('soak')} />
    <Choice label="Next wave opens" {...given('advance')} options={[['manual', 'by a person'], ['auto', 'after the first']]} />
    <Field label="Failures at most" hint="Nodes, or a share" {...given('budget')} />
    <Choice label="At that many" {...given('mode')} options={[['strict', 'pause, never exceed'], ['stop', 'stop for good']]} />
    <Field label="Nodes at once" hint="Nodes, or a share" {...given('at_once')} />
  </div>
); // biome-ignore format: one field a row

const HowCareful = ({ given, pace }: StepProps & { pace: string }) => (
  <fieldset class="paces">
    <legend>3 · How careful</legend>
    {(Object.keys(paces) as (keyof typeof paces)[]).map((one) => (
      <PaceChoice key={one} value={one} label={labels[one]} says={paceText(paces[one])} chosen={pace === one} />
    ))}
    <PaceChoice value="own" label="Own numbers" says="waves, failures and nodes at once" chosen={!Object.hasOwn(paces, pace)} />
    <OwnNumbers given={given} />
    <div class="row">
      <Field label="Spread over" hint="Optional: properties.rack" {...given('by')} />
      <Field label="At once in each" hint="Default: 1" {...given('by_most')} />
    </div>
  </fieldset>
); // biome-ignore format: short parts

const beginnings = [
  ['plan', 'Plan only'], ['submit', 'Request approval'], ['now', 'Start now'], ['at', 'Start at a time'],
] as const; // biome-ignore format: one table

const When = ({ given }: StepProps) => (
  <fieldset>
    <legend>4 · When and whom to ask</legend>
    <div class="row">
      <Choice label="Then" {...given('begin')} options={beginnings} />
      <Field label="Start at (UTC)" type="datetime-local" {...given('start_at')} />
      <Field label="Tenants answer within" hint="Default: 24h" {...given('grace')} />
      <Field label="Reason" hint="To start or to request approval. Tenants read it." {...given('reason')} />
    </div>
  </fieldset>
); // biome-ignore format: one field a row

const PlanForm = ({ draft, runbooks, session, fault, previewed }: FormProps) => {
  const given: StepProps['given'] = (name) => ({ name, value: draft[name], fault: fault?.field === name ? fault.says : undefined }); // biome-ignore format: one row
  return (
    <>
      <Title text="Plan a rollout" />
      <p class="muted">One runbook or action on many nodes, in waves, within a budget of failures. A plan changes nothing.</p>
      {fault && <Notice tone="bad" role="alert" says={fault.field ? 'Not planned: see the marked field.' : fault.says} />}
      <ActForm session={session} action="/rollouts/new" class="form planner">
        <div class="stack">
          <What given={given} runbooks={runbooks} />
          <Which given={given} />
          <HowCareful given={given} pace={draft.pace} />
          <When given={given} />
          <div class="acts">
            <Send tone="primary" label="Create plan" />
            <button type="submit" formaction="/rollouts/new/preview">Preview</button>
          </div>
        </div>
        <PreviewCard draft={draft} previewed={previewed} />
      </ActForm>
    </>
  );
}; // biome-ignore format: short parts

type Formed = {
  readonly draft: Draft;
  readonly fault?: DraftFault;
  readonly previewed?: Previewed;
  readonly status?: number;
};

/** The first runbook is chosen: a plan without work would be refused. */
const formPage = async ({ api, session }: PageContext, { draft, status = 200, ...rest }: Formed): Promise<PageAnswer> => {
  const runbooks = (await api.findList<RunbookView>('/v1/runbooks', { limit: 200 })) ?? [];
  const work = draft.work || worksOf(runbooks)[0]![0];
  const props = { previewed: {}, ...rest, draft: { ...draft, work }, runbooks, session };
  return { title: 'Plan a rollout', status, body: <PlanForm {...props} /> };
}; // biome-ignore format: short lines

export const rolloutPlanPage = async (context: PageContext): Promise<PageAnswer> =>
  formPage(context, { draft: await draftAt(context.api, context.path) });

const previewOf = async (api: Api, draft: Draft): Promise<Previewed> => {
  if (!choosesNodes(draft)) return {};
  try {
    // Has the time of an act: a plan of 100,000 nodes takes longer than a question may.
    return { preview: await api.send<RolloutPreview>('POST', '/temper/v1/rollouts/preview', planBody(draft)) };
  } catch (thrown) {
    // Scripts do not show a page of an error: an old preview would stay beside other values.
    return { fault: thrown instanceof ApiAway ? { says: thrown.message } : draftFault(thrown) };
  }
};

/** Changes nothing. A refusal is no error of the page: it is what the preview shows. */
export const previewRollout = async (context: FormContext): Promise<PageAnswer> => {
  const draft = draftIn(context.form);
  return formPage(context, { draft, previewed: await previewOf(context.api, draft) });
};

/** Requests what follows the plan, and says what became of it. */
const begunText = async (api: Api, draft: Draft, rollout: Rollout, key: string): Promise<string> => {
  const many = rollout.summary?.will_run ?? 0;
  const nodes = many === 1 ? '1 node' : `${many} nodes`;
  const order = beginOf(draft, rollout);
  if (!order) return `Planned for ${nodes}. Nothing has started.`;
  try {
    await api.send('POST', `/temper/v1${rolloutAddress(rollout)}/${order.act}`, order.body, key ? `${key}:begin` : undefined);
    if (order.act === 'submit') return `Planned for ${nodes}; other users are asked to approve it.`;
    return draft.begin === 'at' ? `Planned for ${nodes}; it starts at ${draft.start_at.replace('T', ' ')} UTC.` : `Planned and started for ${nodes}.`;
  } catch (thrown) {
    if (!(thrown instanceof ApiRefusal) || thrown.status === 401) throw thrown;
    return `Planned for ${nodes}, but not started: ${thrown.says}`;
  }
}; // biome-ignore format: short lines

export const planRollout = async (context: FormContext): Promise<PageAnswer> => {
  const { api, session, form } = context;
  const draft = draftIn(form);
  const fault = ownFault(draft);
  if (fault) return formPage(context, { draft, fault, status: 400 });
  const key = fieldOf(form, 'key');
  try {
    const rollout = await api.send<Rollout>('POST', '/temper/v1/rollouts', planBody(draft), key || undefined);
    const did = await begunText(api, draft, rollout, key);
    return { to: addressSaying(session, rolloutAddress(rollout), did) };
  } catch (thrown) {
    return formPage(context, { draft, fault: draftFault(thrown), status: (thrown as ApiRefusal).status });
  }
};
