/** Webhooks: the addresses to which events of a project, or of the installation, are sent. */
import { randomBytes } from 'node:crypto';
import type { Delivery, Webhook } from '../../wire/records';
import { type Answers, Done } from '../parts/acts';
import { ActForm, Choice, Field, type Option, Send } from '../parts/forms';
import { Table } from '../parts/tables';
import { Empty, Facts, Notice, Project, State, Time, Title } from '../parts/texts';
import { TitledSection } from '../parts/titled-section';
import type { ApiRefusal } from '../server/api';
import { type FormBody, type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import { addressSaying } from '../server/session';
import {
  mayCreate,
  type ProjectRecord,
  type RecordFault,
  Remove,
  recordAnswers,
  recordFault,
  removeRecord,
} from './project-records';

const kind: ProjectRecord = {
  resource: 'webhook',
  page: '/notifications',
  path: '/temper/v1/webhooks',
  noun: 'webhook',
};

type WebhookDraft = Readonly<Record<'url' | 'kinds' | 'description', string>>;

const choices: readonly Option[] = [
  ['run.failed,run.parked,node.maintenance.set,rollout.asked', 'What needs a person'],
  ['run.*', 'All of runs'],
  ['node.*', 'All of nodes'],
  ['rollout.*', 'All of rollouts'],
  ['*', 'Everything'],
];
const freshDraft: WebhookDraft = { url: '', kinds: String(choices[0]![0]), description: '' };

const webhookDraftIn = (form: FormBody): WebhookDraft => ({
  url: fieldOf(form, 'url'),
  kinds: fieldOf(form, 'kinds'),
  description: fieldOf(form, 'description'),
});

const Whose = ({ project }: Pick<Webhook, 'project'>) => (project === null ? <>All nodes</> : <Project id={project} />);

type ListProps = {
  readonly webhooks: readonly Webhook[];
  readonly answers: Answers;
  readonly session: PageContext['session'];
};

const WebhookTable = ({ webhooks, answers, session }: ListProps) => (
  <Table
    caption="Webhooks"
    rows={webhooks}
    columns={[
      { title: 'Address', long: true, of: ({ uuid, url }) => <a href={`${kind.page}/${uuid}`}>{url}</a> },
      { title: 'State', of: ({ enabled }) => <State is={enabled ? 'enabled' : 'disabled'} tone={enabled ? 'good' : 'idle'} /> },
      { title: 'Events', long: true, of: ({ kinds }) => kinds.join(', ') },
      { title: 'For', of: Whose },
      { title: 'Description', long: true, of: ({ description }) => description },
      {
        title: 'Action',
        of: ({ uuid, url }) => (
          <Remove kind={kind} answers={answers} session={session} uuid={uuid} says={url} will="Nothing more is sent to this address." />
        ),
      },
    ]}
    empty={
      <Empty title="No webhooks">
        <p>A webhook sends events to an address, for example of a chat or a ticket system. Standard Webhooks describes the signature.</p>
      </Empty>
    }
  />
); // biome-ignore format: short rows

type AddProps = {
  readonly draft: WebhookDraft;
  readonly fault: RecordFault | undefined;
  readonly session: PageContext['session'];
};

const AddWebhook = ({ draft, fault, session }: AddProps) => {
  const given = (name: keyof WebhookDraft) => ({ name, value: draft[name], fault: fault?.field === name ? fault.says : undefined }); // biome-ignore format: one row
  return (
    <TitledSection title="Add a webhook">
      <ActForm session={session} action={kind.page} class="card form">
        <div class="row">
          <Field label="Address" {...given('url')} hint="An origin that your operator allows" required />
          <Choice label="Events" {...given('kinds')} options={choices} />
          <Field label="Description" {...given('description')} hint="Optional" />
        </div>
        <div class="acts"><Send tone="primary" label="Add webhook" /></div>
      </ActForm>
    </TitledSection>
  );
}; // biome-ignore format: one field a row

type Shown = {
  readonly draft?: WebhookDraft;
  readonly fault?: RecordFault;
  readonly status?: number;
  /** Of a webhook that was just added. */
  readonly secret?: string;
};

const listPage = async (context: PageContext, shown: Shown = {}): Promise<PageAnswer> => {
  const { api, session, query } = context;
  const { draft = freshDraft, fault, status, secret } = shown;
  const [webhooks, answers] = await Promise.all([
    api.list<Webhook>(kind.path, { limit: 1_000 }),
    recordAnswers(context, kind),
  ]);
  const body = (
    <>
      <Title text="Notifications" />
      <Done session={session} query={query} />
      {fault && !fault.field && <Notice tone="bad" role="alert" says={fault.says} />}
      {secret && <Notice tone="good" role="status" says={`The webhook is added. Give its receiver this secret, which is shown only now: ${secret}`} />}
      <WebhookTable webhooks={webhooks} answers={answers} session={session} />
      {mayCreate(answers, kind) && <AddWebhook draft={draft} fault={fault} session={session} />}
    </>
  ); // biome-ignore format: one part a row
  return { title: 'Notifications', body, ...(status && { status }) };
};

export const notificationsPage = (context: PageContext): Promise<PageAnswer> => listPage(context);

const webhookFields = { url: 'url', kinds: 'kinds', description: 'description' } as const;

/** The answer is the page itself: an address would keep the secret. */
export const addWebhook = async (context: FormContext): Promise<PageAnswer> => {
  const { api, form } = context;
  const draft = webhookDraftIn(form);
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const body = { url: draft.url, kinds: draft.kinds.split(','), secret, description: draft.description || null };
  try {
    await api.send('POST', kind.path, body);
    return await listPage(context, { secret });
  } catch (thrown) {
    return listPage(context, {
      draft,
      fault: recordFault(thrown, webhookFields),
      status: (thrown as ApiRefusal).status,
    });
  }
};

export const removeWebhook = removeRecord(kind);

const deliveryTones = { delivered: 'good', pending: 'wait', failed: 'bad' } as const;

const DeliveryTable = ({ deliveries }: { readonly deliveries: readonly Delivery[] }) => (
  <Table
    heading
    caption="Deliveries"
    rows={deliveries}
    columns={[
      { title: 'Event', of: ({ kind: is }) => is },
      { title: 'State', of: ({ state }) => <State is={state} tone={deliveryTones[state]} /> },
      { title: 'Attempts', of: ({ attempts }) => attempts },
      { title: 'Answer', of: ({ status }) => status },
      { title: 'Error', long: true, of: ({ error }) => error },
      { title: 'Since', of: ({ created_at }) => <Time at={created_at} /> },
    ]}
    empty="Nothing was sent yet"
  />
); // biome-ignore format: one column a row

export const webhookPage = async ({ api, params, session, query }: PageContext): Promise<PageAnswer> => {
  const path = `${kind.path}/${encodeURIComponent(params.webhook!)}`;
  const [webhook, deliveries] = await Promise.all([
    api.get<Webhook>(path),
    api.list<Delivery>(`${path}/deliveries`, { limit: 100 }),
  ]);
  const { url, kinds, enabled, description, project, uuid } = webhook;
  const facts = [
    ['Events', kinds.join(', ')],
    ['For', <Whose key="project" project={project} />],
    ['State', <State key="state" is={enabled ? 'enabled' : 'disabled'} tone={enabled ? 'good' : 'idle'} />],
    ['Description', description],
  ] as const;
  const body = (
    <>
      <Title text={url} />
      <Done session={session} query={query} />
      <Facts rows={facts} />
      <ActForm session={session} action={`${kind.page}/${uuid}/${enabled ? 'disable' : 'enable'}`}>
        <Send label={enabled ? 'Disable' : 'Enable'} />
      </ActForm>
      <DeliveryTable deliveries={deliveries} />
    </>
  );
  return { title: url, body };
};

export const switchWebhook =
  (enabled: boolean) =>
  async ({ api, params, session }: FormContext): Promise<PageAnswer> => {
    const webhook = encodeURIComponent(params.webhook!);
    await api.send('PATCH', `${kind.path}/${webhook}`, { enabled });
    return { to: addressSaying(session, `${kind.page}/${webhook}`, `The webhook is ${enabled ? 'enabled' : 'disabled'}.`) };
  }; // biome-ignore format: one request
