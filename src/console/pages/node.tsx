/** Page of one node: a head with its state and acts, tabs with addresses of their own, and its facts beside them. */
import type { VNode } from 'preact';
import type { Freeze } from '../../wire/records';
import type { ListedRun } from '../../wire/runs';
import { ActBar } from '../parts/act-bar';
import { type Answers, askedRules, Done } from '../parts/acts';
import { Live } from '../parts/live';
import { nodeAddress, Project, State, Title } from '../parts/texts';
import type { PageAnswer, PageContext } from '../server/context';
import type { NodeView, RunbookView } from '../views';
import { accessRules, NodeAccess, NodeTrail, trailOf } from './node-access';
import { activityOf, NodeActivity } from './node-activity';
import { consoleRules, NodeConsole } from './node-console';
import { deployTab } from './node-deploy';
import { hardwareOf, NodeHardware } from './node-hardware';
import { decidedRun, leadsOf, type Situation, situationOffers } from './node-leads';
import { holderOf, nodeRules, powerNames } from './node-offers';
import { Sentence } from './node-sentence';
import { NodeSide, propertyText, sideData } from './node-side';
import { NodeTrouble } from './nodes';
import { runAsks } from './run';

const situationOf = async ({ api, params }: PageContext) => {
  const node = await api.get<NodeView>(`/v1/nodes/${encodeURIComponent(params.node!)}`);
  const [runs = [], freezes = [], runbooks = [], own] = await Promise.all([
    api.findList<ListedRun>('/temper/v1/runs', { node: node.uuid, state: 'any', limit: 30 }),
    api.findList<Freeze>(`/temper/v1/nodes/${node.uuid}/freezes`),
    api.findList<RunbookView>('/v1/runbooks', { limit: 200 }),
    askedRules(api, nodeRules.map((rule) => ({ rule, node: node.uuid }))),
  ]); // biome-ignore format: short requests
  const [open, last] = [runs.find((run) => run.finished_at === null), runs.find((run) => run.finished_at !== null)];
  const is: Situation = { node, holder: holderOf(node, runs), freezes, open, last };
  const run = decidedRun(is);
  const ofRun = run && (await askedRules(api, runAsks(run.uuid)));
  const answers: Answers = new Map([...own, ...(ofRun ?? [])]);
  return { is, runs, runbooks, answers };
};

export type NodeData = Awaited<ReturnType<typeof situationOf>>;

type Tab = {
  readonly label: string;
  /** It follows the events, too. */
  readonly live?: boolean;
  readonly body: (context: PageContext, data: NodeData) => Promise<VNode>;
};

const askedOf = (api: PageContext['api'], node: NodeView, rules: readonly string[]) =>
  askedRules(api, rules.map((rule) => ({ rule, node: node.uuid }))); // biome-ignore format: one question

const tabs: Readonly<Record<string, Tab>> = {
  activity: {
    label: 'Activity',
    live: true,
    body: async ({ api, query }, { is, runs }) => {
      const activity = await activityOf(api, is.node.uuid, query);
      return <NodeActivity path={nodeAddress(is.node)} query={query} activity={activity} runs={runs} />;
    },
  },
  hardware: {
    label: 'Hardware',
    body: async ({ api }, { is }) => <NodeHardware {...await hardwareOf(api, is.node)} />,
  },
  deploy: { label: 'Deploy', body: (context, data) => deployTab(context, data) },
  console: {
    label: 'Console',
    body: async ({ api, session }, { is: { node, freezes = [] } }) => (
      <NodeConsole node={node} answers={await askedOf(api, node, consoleRules)} frozen={freezes.length > 0} session={session} />
    ),
  },
  access: {
    label: 'Access',
    body: async ({ api, session }, { is: { node } }) => (
      <NodeAccess node={node} answers={await askedOf(api, node, accessRules)} session={session} />
    ),
  },
  audit: {
    label: 'Audit',
    body: async ({ api, query }, { is: { node } }) => (
      <NodeTrail path={`${nodeAddress(node)}/audit`} node={node} query={query} rows={await trailOf(api, node, query)} />
    ),
  },
}; // biome-ignore format: short parts

const tabAddress = (node: NodeView, tab: string): string =>
  tab === 'activity' ? nodeAddress(node) : `${nodeAddress(node)}/${tab}`;

const Tabs = ({ node, tab }: { node: NodeView; tab: string }) => (
  <nav class="tabs" aria-label="Parts of the node">
    {Object.entries(tabs).map(([name, { label }]) => (
      <a key={name} href={tabAddress(node, name)} aria-current={name === tab ? 'page' : undefined}>
        {label}
      </a>
    ))}
  </nav>
);

const placeNames = [['rack', 'Rack'], ['unit', 'unit'], ['rack_unit', 'unit'], ['power_feed', 'feed']] as const; // biome-ignore format: one row

const Place = ({ node }: { node: NodeView }) => {
  const place = placeNames.flatMap(([key, label]) => {
    const text = propertyText(node, key);
    return text ? [`${label} ${text}`] : [];
  });
  const project = node.lessee ?? node.owner;
  return (
    <span class="muted">
      {place.join(', ')}
      {place.length > 0 && project && ' · '}
      <Project id={project} />
    </span>
  );
};

const menus = [
  { id: 'power', label: 'Power', names: powerNames },
  { id: 'more', label: 'More' },
];

const Head = ({ data, session }: { data: NodeData } & Pick<PageContext, 'session'>) => {
  const { is, runbooks, answers } = data;
  const { node } = is;
  const name = node.name ?? node.uuid;
  return (
    <>
      <Title
        text={name}
        says={`${name}: ${node.provision_state}`}
        end={
          <ActBar
            id="acts"
            offers={situationOffers(is, runbooks)}
            answers={answers}
            leads={leadsOf(is)}
            beside={['runbook']}
            menus={menus}
            about={{ kind: 'node', object: node.uuid }}
            session={session}
            actionOf={() => `${nodeAddress(node)}/acts`}
          />
        }
      >
        <State is={node.provision_state} />
        <NodeTrouble node={node} />
        <Place node={node} />
      </Title>
      <Sentence is={is} />
    </>
  );
};

/**
 * @param tab its name is the last part of the address
 * @param bodyOf replaces the tab's content, after a form was sent
 */
export const nodeTabPage = async (
  tab: string,
  context: PageContext,
  bodyOf: (data: NodeData) => Promise<VNode> = (data) => tabs[tab]!.body(context, data),
): Promise<PageAnswer & { body: VNode }> => {
  const { label, live } = tabs[tab]!;
  const data = await situationOf(context);
  const { node } = data.is;
  // Parts outside the one that is reloaded are not requested again.
  const whole = live || !context.partial;
  const [content, side] = whole ? await Promise.all([bodyOf(data), sideData(context.api, node)]) : [];
  const split = side && (
    <div class="split">
      <div class="part">{content}</div>
      <NodeSide node={node} {...side} />
    </div>
  );
  const name = node.name ?? node.uuid;
  const query = live ? { show: context.query.show, marker: context.query.marker } : {};
  const body = (
    <>
      <Done {...context} />
      <Live id="node" events={`${nodeAddress(node)}/live`} path={tabAddress(node, tab)} query={query}>
        <Head data={data} session={context.session} />
        <Tabs node={node} tab={tab} />
        {live && split}
      </Live>
      {!live && split}
    </>
  );
  return tab === 'activity' ? { title: name, body } : { title: label, body, crumbs: [[nodeAddress(node), name]] };
};

export const nodePage =
  (tab: string) =>
  (context: PageContext): Promise<PageAnswer> =>
    nodeTabPage(tab, context);
