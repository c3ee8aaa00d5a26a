/** One change on many nodes: chosen, previewed by the rules of each node, then made under one reason with an answer for each. */
import { type BulkChange, bulkVerbs, mostBulkNodes } from '../../model/resources/bulk';
import type { Bulk, BulkResult } from '../../wire/bulk';
import { ActForm, Choice, Field, Hidden, Send } from '../parts/forms';
import { groupedBy } from '../parts/groups';
import { Table } from '../parts/tables';
import { Empty, NodeLink, Notice, State, Title } from '../parts/texts';
import { ApiRefusal, addressWith } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import type { NodeView } from '../views';

type ChangeChoice = {
  readonly label: string;
  /** Of the button that makes it. */
  readonly doing: string;
  readonly body: (project: string) => Readonly<Partial<Record<BulkChange, unknown>>>;
  readonly danger?: true;
  /** It starts a run. */
  readonly starts?: true;
};

const verbLabels: Readonly<Record<(typeof bulkVerbs)[number], string>> = {
  manage: 'Make manageable',
  provide: 'Make available',
  inspect: 'Inspect',
  abort: 'Abort',
  unhold: 'Release the hold',
};

const power = (label: string, target: string, danger?: true): ChangeChoice => ({
  label: `${label} (${target})`,
  doing: label,
  body: () => ({ power: target }),
  starts: true,
  ...(danger && { danger }),
});

const projectOrNone = (project: string): string | null => project || null;

const changeChoices: Readonly<Record<string, ChangeChoice>> = {
  'maintenance-on': { label: 'Set maintenance', doing: 'Set maintenance', body: () => ({ maintenance: true }) },
  'maintenance-off': { label: 'End maintenance', doing: 'End maintenance', body: () => ({ maintenance: false }) },
  'power-on': power('Power on', 'power on'),
  'power-off': power('Shut down', 'soft power off', true),
  'power-cut': power('Cut power', 'power off', true),
  'power-soft': power('Restart', 'soft rebooting', true),
  'power-hard': power('Reset', 'rebooting', true),
  ...Object.fromEntries(
    bulkVerbs.map((verb) => [
      verb,
      {
        label: `${verbLabels[verb]} (${verb})`,
        doing: verbLabels[verb],
        body: () => ({ provision: verb }),
        starts: true as const,
      },
    ]),
  ),
  lessee: {
    label: 'Set or end the lease (lessee)',
    doing: 'Change the lessee',
    body: (project) => ({ lessee: projectOrNone(project) }),
    danger: true,
  },
  owner: {
    label: 'Set the owner',
    doing: 'Change the owner',
    body: (project) => ({ owner: projectOrNone(project) }),
    danger: true,
  },
};

const choiceOf = (name: string): ChangeChoice | undefined =>
  Object.hasOwn(changeChoices, name) ? changeChoices[name] : undefined;

// Not below /nodes, where it would be the name of a node.
export const manyNodesPath = '/many-nodes';

/** The form holds nodes by name or UUID, or a filter of the list. */
type ManyAsked = {
  readonly nodes: readonly string[];
  readonly change: string;
  readonly project: string;
  readonly reason: string;
};

const filterNames = ['provision_state', 'maintenance', 'owner', 'lessee', 'resource_class', 'fault', 'driver', 'conductor_group'] as const; // biome-ignore format: one row

const filtersIn = ({ query }: PageContext): Record<string, string> =>
  Object.fromEntries(filterNames.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));

/** All nodes of the filters, one more than a change may have. */
const nodesOfFilters = async (context: PageContext): Promise<readonly string[]> => {
  const asked = { ...filtersIn(context), fields: 'uuid', limit: mostBulkNodes + 1 };
  return (await context.api.list<NodeView>('/v1/nodes', asked)).map(({ uuid }) => uuid);
};

const askedIn = async (context: PageContext): Promise<ManyAsked> => {
  const { query } = context;
  const given = new URL(context.path, 'http://console').searchParams.getAll('node');
  const nodes = query.all === 'yes' ? await nodesOfFilters(context) : given.slice(0, mostBulkNodes + 1);
  const { change = '', project = '', reason = '' } = query;
  return { nodes, change, project: project.trim(), reason: reason.trim() };
};

const bulkBodyOf = ({ nodes, change, project, reason }: ManyAsked) => ({
  nodes: nodes.slice(0, mostBulkNodes),
  reason,
  ...choiceOf(change)?.body(project),
});

const sayNodes = (count: number): string => `${count} ${count === 1 ? 'node' : 'nodes'}`;

/** The choice goes along in the form: as it was ticked, or as a filter. */
const ChoiceFields = ({ context, asked: { nodes } }: { context: PageContext; asked: ManyAsked }) =>
  context.query.all === 'yes' ? (
    <Hidden fields={{ all: 'yes', ...filtersIn(context) }} />
  ) : (
    <>
      {nodes.slice(0, mostBulkNodes).map((node) => (
        <input key={node} type="hidden" name="node" value={node} />
      ))}
    </>
  );

const changeOptions = Object.entries(changeChoices).map(([name, { label }]) => [name, label] as const);

type AskFormProps = { readonly context: PageContext; readonly asked: ManyAsked; readonly fault: string | undefined };

const AskForm = ({ context, asked, fault }: AskFormProps) => (
  <form method="get" action={manyNodesPath} class="card many" aria-label="Change">
    <ChoiceFields context={context} asked={asked} />
    <Choice label="Change" name="change" value={asked.change} options={changeOptions} />
    <Field label="Project" name="project" value={asked.project} hint="For owner and lessee. Empty for none." />
    <Field label="Reason" name="reason" value={asked.reason} required fault={fault} hint="Each changed node records it." />
    <div class="acts">
      <a class="button" href="/nodes">Cancel</a>
      <Send tone={asked.change ? undefined : 'primary'} label="Preview" />
    </div>
  </form>
); // biome-ignore format: short parts

const nodeOf = ({ node, node_uuid, node_name }: BulkResult) =>
  node_uuid ? <NodeLink uuid={node_uuid} name={node_name} /> : node;

/** A reason names its node; the rest of the text says whether two are alike. */
const plainReason = ({ reason, node, node_uuid, node_name }: BulkResult): string =>
  [node_uuid, node_name, node].reduce<string>(
    (text, name) => (name ? text.replaceAll(`Node ${name}`, 'The node').replaceAll(name, 'the node') : text),
    reason ?? '',
  );

/** The API names nodes of one request by their UUIDs. */
const namedReason = ({ reason, node_uuid, node_name }: BulkResult): string | undefined =>
  (node_uuid && node_name ? reason?.replaceAll(node_uuid, node_name) : reason) ?? undefined;

const mostReasons = 5;

const Refusals = ({ results }: { results: readonly BulkResult[] }) => {
  const groups = groupedBy(results.filter(({ accepted }) => !accepted), plainReason); // biome-ignore format: one line
  return groups.length === 0 ? null : (
    <ul class="plain">
      {groups.slice(0, mostReasons).map((group) => (
        <li key={plainReason(group[0]!)}>
          <b>{group.length} refused:</b> {plainReason(group[0]!)}
        </li>
      ))}
      {groups.length > mostReasons && <li>And {groups.length - mostReasons} other reasons, in the table.</li>}
    </ul>
  );
};

type ResultsProps = { readonly results: readonly BulkResult[]; readonly words: readonly [done: string, refused: string] }; // biome-ignore format: one row

const Results = ({ results, words: [done, refused] }: ResultsProps) => (
  <Table
    caption="Nodes"
    rows={results.toSorted((one, other) => Number(one.accepted) - Number(other.accepted))}
    columns={[
      { title: 'Node', of: nodeOf },
      { title: "Answer", of: ({ accepted }) => <State is={accepted ? done : refused} tone={accepted ? 'good' : 'bad'} /> },
      { title: 'Why', long: true, of: namedReason },
      { title: 'Rule', of: ({ rule }) => rule && <code>{rule}</code> },
    ]}
  />
); // biome-ignore format: one column a row

type PreviewProps = { readonly asked: ManyAsked; readonly seen: Bulk; readonly session: PageContext['session'] };

/** The act names nodes by the UUIDs of the preview, because a name may be another node's by then. */
const Preview = ({ asked, seen: { results, accepted, refused }, session }: PreviewProps) => {
  const { doing, danger } = choiceOf(asked.change)!;
  const { change, project, reason } = asked;
  const items = results.flatMap((one) => (one.accepted ? (one.node_uuid ?? []) : [])).join(',');
  return (
    <section class="stack" aria-labelledby="preview">
      <h2 id="preview">{accepted} will, {refused} refused</h2>
      <Refusals results={results} />
      {accepted > 0 && (
        <ActForm session={session} action={manyNodesPath} fields={{ items, change, project, reason }} class="acts">
          <Send tone={danger ? 'danger' : 'primary'} label={`${doing} on ${sayNodes(accepted)}`} />
          <span class="muted">Nothing has changed yet. Each node is checked again.</span>
        </ActForm>
      )}
      <Results results={results} words={['will', 'refused']} />
    </section>
  );
}; // biome-ignore format: short parts

/** A refusal of the whole request, in its field. */
type ManySeen = { readonly seen?: Bulk; readonly fault?: string };

const seenFor = async ({ api }: PageContext, asked: ManyAsked): Promise<ManySeen> => {
  if (!choiceOf(asked.change) || asked.nodes.length === 0) return {};
  if (asked.reason === '') return { fault: 'Give a reason.' };
  try {
    return { seen: await api.send<Bulk>('POST', '/temper/v1/nodes/bulk/preview', bulkBodyOf(asked)) };
  } catch (thrown) {
    if (!(thrown instanceof ApiRefusal) || ![400, 429].includes(thrown.status)) throw thrown;
    return { fault: thrown.says };
  }
};

const NoChoice = () => (
  <Empty icon="server" title="No nodes selected">
    <p>Tick nodes in the list, then choose Change.</p>
    <a class="button" href="/nodes">See all nodes</a>
  </Empty>
); // biome-ignore format: short parts

export const manyNodesPage = async (context: PageContext): Promise<PageAnswer> => {
  const asked = await askedIn(context);
  const { seen, fault } = await seenFor(context, asked);
  const count = Math.min(asked.nodes.length, mostBulkNodes);
  const body = (
    <>
      <Title text={`Change ${sayNodes(count)}`} />
      {asked.nodes.length > mostBulkNodes && <Notice tone="wait" says={`You selected more than ${mostBulkNodes} nodes. These are the first ${mostBulkNodes}.`} />}
      {count === 0 ? <NoChoice /> : <AskForm context={context} asked={asked} fault={fault} />}
      {seen && <Preview asked={asked} seen={seen} session={context.session} />}
    </>
  ); // biome-ignore format: short parts
  return { title: 'Change nodes', body, ...(fault && { status: 400 }) };
};

const sentBy = (form: FormContext['form']): ManyAsked => ({
  nodes: fieldOf(form, 'items').split(',').filter(Boolean),
  change: fieldOf(form, 'change'),
  project: fieldOf(form, 'project'),
  reason: fieldOf(form, 'reason'),
});

/** Shows the answer of each node. A form that is sent twice acts once. */
export const changeManyNodes = async ({ api, form }: FormContext): Promise<PageAnswer> => {
  const asked = sentBy(form);
  const choice = choiceOf(asked.change);
  if (!choice || asked.nodes.length === 0) return { to: '/nodes' };
  const key = fieldOf(form, 'key') || undefined;
  const done = await api.send<Bulk>('POST', '/temper/v1/nodes/bulk', bulkBodyOf(asked), key);
  const { results, accepted, refused, request_id } = done;
  const body = (
    <>
      <Title text={`${choice.doing}: ${accepted} of ${sayNodes(accepted + refused)}`} />
      {refused > 0 && <Notice tone="bad" role="alert" says={`The API refused ${refused}.`} />}
      {refused === 0 && <Notice tone="good" role="status" says="Each node has accepted the change." />}
      <Refusals results={results} />
      <p class="acts">
        <a class="button primary" href="/nodes">Back to the nodes</a>
        {request_id && <a class="button" href={addressWith('/audit', { request: request_id })}>Audit of this request</a>}
      </p>
      <Results results={results} words={[choice.starts ? 'started' : 'changed', 'refused']} />
    </>
  ); // biome-ignore format: short parts
  return { title: accepted > 0 ? 'Changed' : 'Refused', status: accepted > 0 ? 200 : 409, body };
};
