/** Decisions that wait, oldest first: parked and paused runs, held nodes, rollouts, consents. Equal ones are one card. */
import type { ComponentChildren } from 'preact';
import { states } from '../../model/lifecycle/states';
import type { Summary } from '../../wire/installation';
import type { ListedRun } from '../../wire/runs';
import { seenOf } from '../hidden';
import { Acts, type Answers, askedLists, inAll, type Offer } from '../parts/acts';
import { cutBy, groupedBy } from '../parts/groups';
import { NodeLink, State, stateWord, Time, type Tone } from '../parts/texts';
import type { PageContext } from '../server/context';
import type { NodeView } from '../views';
import { AcknowledgedBy, acknowledgeOffer, acknowledgeRule, type Incident } from './incidents';
import { mostItems } from './many';
import { holderOf, nodeOffers, troubleRules } from './node-offers';
import { stateOfNode } from './node-standing';
import { RunActs, runAsks, runOffers } from './run';
import { runAddress, runTitle } from './runs';
import { AskedCard, RolloutCard, type WaitingRollouts, waitingRollouts } from './waiting';

type ConsoleSession = PageContext['session'];

/** Runs, or nodes, that are alike. */
type RunGroup = { readonly is: 'runs'; readonly at: string; readonly runs: readonly ListedRun[]; readonly answers: Answers }; // biome-ignore format: one row
export type NodeGroup = { readonly is: 'nodes'; readonly at: string; readonly nodes: readonly NodeView[]; readonly answers: Answers }; // biome-ignore format: one row
export type Decision =
  | RunGroup
  | NodeGroup
  | ({ readonly is: 'rollout'; readonly at: string } & WaitingRollouts['decisions'][number])
  | ({ readonly is: 'asked'; readonly at: string } & WaitingRollouts['asked'][number]);

const sinceOf = (run: ListedRun): string => run.waiting_since ?? run.updated_at;

const causeOfRun = (run: ListedRun): string => run.waiting_for ?? run.last_error ?? '';

/** Errors name their node; the rest of the text decides whether two are alike. */
const alike = (text: string, { name, uuid }: { name: string | null; uuid: string }): string =>
  (name ? text.replaceAll(name, '') : text).replaceAll(uuid, '');

const likeRun = (run: ListedRun): string =>
  JSON.stringify([run.state, run.verb, run.runbook, run.step, alike(causeOfRun(run), { name: run.node_name, uuid: run.node_uuid })]); // biome-ignore format: one key

/** Since when a node is as it is, as far as the API says. */
export const nodeSince = ({ fault_since, maintenance_since, provision_updated_at }: NodeView): string =>
  fault_since ?? maintenance_since ?? provision_updated_at ?? '';

/** It needs a decision, and is no failure. */
export const isHeld = ({ provision_state }: NodeView): boolean => states[provision_state].kind === 'hold';

const causeOfNode = (node: NodeView): string => {
  if (isHeld(node)) return 'On hold until it is released.';
  return node.maintenance_reason ?? seenOf(node.last_error) ?? stateOfNode(node).word;
};

const likeNode = (node: NodeView): string =>
  JSON.stringify([node.provision_state, node.maintenance, node.fault, alike(causeOfNode(node), node)]);

type Grouped<Row> = { readonly at: string; readonly rows: readonly Row[] };

/** Oldest first. */
const grouped = <Row,>(rows: readonly Row[], sinceOf: (row: Row) => string, like: (row: Row) => string): Grouped<Row>[] =>
  groupedBy(rows.toSorted((one, other) => sinceOf(one).localeCompare(sinceOf(other))), like).map((group) => ({
    at: sinceOf(group[0]!),
    rows: group.slice(0, mostItems),
  })); // biome-ignore format: one row

const runGroups = async ({ api }: PageContext, runs: readonly ListedRun[]): Promise<RunGroup[]> => {
  const groups = grouped(runs, sinceOf, likeRun);
  const answers = await askedLists(api, groups.flatMap(({ rows }) => rows.map(({ uuid }) => runAsks(uuid)))); // biome-ignore format: one question
  const parts = cutBy(answers, groups.map(({ rows }) => rows.length)); // biome-ignore format: one line
  return groups.map(({ at, rows }, place) => ({ is: 'runs', at, runs: rows, answers: inAll(parts[place]!) }));
};

export const nodeGroups = async ({ api }: PageContext, nodes: readonly NodeView[]): Promise<NodeGroup[]> => {
  const groups = grouped(nodes, nodeSince, likeNode);
  const asks = (node: string) => [...troubleRules, acknowledgeRule].map((rule) => ({ rule, node }));
  const answers = await askedLists(api, groups.flatMap(({ rows }) => rows.map(({ uuid }) => asks(uuid)))); // biome-ignore format: one question
  const parts = cutBy(answers, groups.map(({ rows }) => rows.length)); // biome-ignore format: one line
  return groups.map(({ at, rows }, place) => ({ is: 'nodes', at, nodes: rows, answers: inAll(parts[place]!) }));
};

/** The most rows that a list of the inbox reads. */
export const mostListed = 50;
const inboxFields =
  'uuid,name,provision_state,power_state,maintenance,maintenance_reason,fault,last_error,owner,lessee,driver,protected,retired,reservation,provision_updated_at,fault_since,maintenance_since';

/** Nodes of a filter, longest first. */
export const nodesIn = async (
  { api }: PageContext,
  filter: Readonly<Record<string, string>>,
  sort_key = 'provision_updated_at',
): Promise<readonly NodeView[]> =>
  (await api.findList<NodeView>('/v1/nodes', { ...filter, fields: inboxFields, sort_key, limit: mostListed })) ?? [];

const heldStates = (Object.keys(states) as (keyof typeof states)[]).filter((state) => states[state].kind === 'hold');

/** If nodes were counted, the page reads only states that have nodes. */
const heldNodes = async (context: PageContext, summary: Summary | undefined): Promise<readonly NodeView[]> => {
  const wanted = heldStates.filter((state) => !summary || summary.nodes.provision_state[state]);
  return (await Promise.all(wanted.map((provision_state) => nodesIn(context, { provision_state })))).flat();
};

/** A full list may not be all of them. */
export const countText = (count: number, isPart = count >= mostListed): string =>
  isPart ? `${count} or more` : `${count}`;

/** Oldest first; `counted` is the number of runs, nodes and rollouts behind the cards. @param summary if the page counts nodes */
export const decisionsOf = async (
  context: PageContext,
  summary: Promise<Summary | undefined> = Promise.resolve(undefined),
) => {
  const decided = context.api.list<ListedRun>('/temper/v1/runs', { state: 'parked,paused', sort_dir: 'asc', limit: mostListed }); // biome-ignore format: one question
  const [runs, nodes, rollouts] = await Promise.all([
    decided.then((found) => runGroups(context, found)),
    summary.then((counted) => heldNodes(context, counted)).then((found) => nodeGroups(context, found)),
    waitingRollouts(context),
  ]);
  const decisions: Decision[] = [
    ...runs,
    ...nodes,
    ...rollouts.decisions.map((one) => ({ is: 'rollout' as const, at: one.rollout.updated_at ?? one.rollout.created_at, ...one })),
    ...rollouts.asked.map((one) => ({ is: 'asked' as const, at: one.rollout.started_at ?? one.rollout.created_at, ...one })),
  ]; // biome-ignore format: one kind a row
  const many = (one: Decision): number =>
    one.is === 'runs' ? one.runs.length : one.is === 'nodes' ? one.nodes.length : 1;
  return {
    decisions: decisions.toSorted((one, other) => one.at.localeCompare(other.at)),
    counted: decisions.reduce((all, one) => all + many(one), 0),
  }; // biome-ignore format: one sum
};

/** Offers of one object for several. */
const forAll = (offers: readonly Offer[], many: number, fieldsOf: (offer: Offer) => Record<string, string>): Offer[] =>
  offers.map((offer) => ({
    ...offer,
    label: many === 1 ? offer.label : `${offer.label}: all ${many}`,
    fields: fieldsOf(offer),
  }));

type DecisionPage = { readonly from: '/' | '/inbox'; readonly session: ConsoleSession };

/** Acts of a card, for all runs or nodes of its group. */
const GroupActs = (props: Omit<Parameters<typeof Acts>[0], 'actionOf'>) => <Acts {...props} actionOf={() => '/inbox/acts'} />; // biome-ignore format: one row

const ManyRunActs = ({ runs, answers, from, session }: Pick<RunGroup, 'runs' | 'answers'> & DecisionPage) => {
  const [first] = runs;
  const items = runs.map(({ uuid, cursor }) => `${uuid}:${cursor}`).join(',');
  const offers = forAll(runOffers(first!), runs.length, ({ name }) => ({ of: 'runs', act: name, items, from }));
  return (
    <GroupActs
      id={`acts-${first!.uuid}`}
      offers={offers}
      answers={answers}
      about={{ kind: 'run', object: first!.uuid }}
      session={session}
    />
  );
};

type Linked = { readonly uuid: string; readonly name: string | null; readonly to?: string };

/** The others of a group. */
const SameOn = ({ others }: { others: readonly Linked[] }) =>
  others.length === 0 ? null : (
    <p>
      Same on{' '}
      {others.map((one, at) => (
        <span key={one.uuid}>
          {at > 0 && ', '}
          <NodeLink {...one} />
        </span>
      ))}
    </p>
  );

type CardProps = {
  readonly id: string;
  readonly says: string;
  readonly state: string;
  readonly tone?: Tone;
  readonly title: ComponentChildren;
  readonly end: ComponentChildren;
  readonly cause: string;
  readonly others: readonly Linked[];
  readonly children: ComponentChildren;
};

const GroupCard = ({ id, says, state, tone, title, end, cause, others, children }: CardProps) => (
  <li class="card" id={id} data-key={id} data-says={says}>
    <header>
      <State is={state} tone={tone} />
      <h3>{title}</h3>
      <span class="muted">{end}</span>
    </header>
    {cause && <p class="cause">{cause}</p>}
    <SameOn others={others} />
    {children}
  </li>
);

const RunCard = ({ group: { runs, answers }, ...place }: { group: RunGroup } & DecisionPage) => {
  const [run, ...others] = runs;
  const { uuid, state, step, attempt } = run!;
  const at = [step, attempt !== null && attempt > 1 && `attempt ${attempt}`].filter(Boolean).join(', ');
  return (
    <GroupCard
      id={`run-${uuid}`}
      says={`${runTitle(run!)}: ${stateWord(state)}`}
      state={state}
      title={<a href={runAddress(run!)}>{runTitle(run!)}</a>}
      end={<>{at && `${at}, `}<Time at={sinceOf(run!)} /></>}
      cause={causeOfRun(run!)}
      others={others.map((one) => ({ uuid: one.node_uuid, name: one.node_name, to: runAddress(one) }))}
    >
      {others.length > 0 ? <ManyRunActs runs={runs} answers={answers} {...place} /> : <RunActs run={run!} answers={answers} session={place.session} />}
    </GroupCard>
  );
}; // biome-ignore format: short parts

/** Acts that help a node out of trouble; all others are on its page. */
const helping = ['unhold', 'leave-maintenance', 'manage', 'abort', 'freeze'];

const helpFor = (nodes: readonly NodeView[]): Offer[] => {
  const all = nodes.map((node) => nodeOffers({ node, holder: holderOf(node, []) }));
  const isOpen = (offers: readonly Offer[], wanted: string): boolean =>
    offers.some(({ name, stateSays }) => name === wanted && stateSays === undefined);
  return helping.flatMap((name) =>
    all.every((offers) => isOpen(offers, name)) ? all[0]!.filter((offer) => offer.name === name) : [],
  );
};

type NodeCardProps = { readonly group: NodeGroup; readonly incident?: Incident } & DecisionPage;

/** @param incident of the first node */
export const NodeCard = ({ group: { nodes, answers, at }, incident, from, session }: NodeCardProps) => {
  const [node, ...others] = nodes;
  const { tone, word } = stateOfNode(node!);
  const items = nodes.map(({ uuid }) => uuid).join(',');
  const help = forAll(helpFor(nodes), nodes.length, ({ fields }) => ({ ...fields, of: 'nodes', items, from }));
  const canAcknowledge = incident && answers.get(acknowledgeRule)?.allowed;
  const offers = canAcknowledge ? [...help, acknowledgeOffer(incident, node!.uuid, from)] : help;
  return (
    <GroupCard
      id={`node-${node!.uuid}`}
      says={`${node!.name ?? node!.uuid}: ${word}`}
      state={isHeld(node!) ? node!.provision_state : word}
      tone={tone}
      title={<NodeLink {...node!} />}
      end={<>{node!.fault && node!.provision_state !== word && `${node!.provision_state}, `}<Time at={at} /></>}
      cause={causeOfNode(node!)}
      others={others}
    >
      {incident && <AcknowledgedBy {...incident} />}
      <GroupActs
        id={`help-${node!.uuid}`}
        offers={offers}
        answers={answers}
        about={{ kind: 'node', object: node!.uuid }}
        session={session}
      />
    </GroupCard>
  );
}; // biome-ignore format: short parts

const DecisionCard = ({ decision, ...place }: { decision: Decision } & DecisionPage) => {
  switch (decision.is) {
    case 'runs':
      return <RunCard group={decision} {...place} />;
    case 'nodes':
      return <NodeCard group={decision} {...place} />;
    case 'rollout':
      return <RolloutCard {...decision} session={place.session} />;
    case 'asked':
      return <AskedCard {...decision} />;
  }
};

export const Decisions = ({ decisions, ...place }: { decisions: readonly Decision[] } & DecisionPage) =>
  decisions.length === 0 ? null : (
    <ul class="cards">
      {decisions.map((decision, at) => (
        <DecisionCard key={at} decision={decision} {...place} />
      ))}
    </ul>
  );
