/** Overview: faults that began together, by what their nodes share, who knows of them, and the acts for them. */
import type { Incidents } from '../../wire/installation';
import type { Freeze } from '../../wire/records';
import type { ListedRun } from '../../wire/runs';
import { Acts, type Answers, askedLists, inAll, type Offer } from '../parts/acts';
import { Field } from '../parts/forms';
import { cutBy } from '../parts/groups';
import { Table } from '../parts/tables';
import { NodeLink, Notice, personOf, State, spanOf, Time } from '../parts/texts';
import { addressWith } from '../server/api';
import { type FormContext, fieldOf, type PageAnswer, type PageContext } from '../server/context';
import type { Remembered } from '../server/remembered';
import { addressSaying } from '../server/session';

export type Incident = Incidents['incidents'][number];

const freezeRule = 'temper:freeze:create';
export const acknowledgeRule = 'temper:acknowledgement:create';

/** An incident of one node is a card of the inbox. */
const fewest = 2;
const mostShown = 3;

type Strip = {
  readonly incident: Incident;
  /** For acts on its nodes, as far as the API named them. */
  readonly answers: Answers;
  readonly frozen: number;
};

export type Strips = { readonly shown: readonly Strip[]; readonly left: number };

const freezesOf = async ({ api }: PageContext): Promise<ReadonlySet<string>> =>
  new Set(
    ((await api.findList<Freeze>('/temper/v1/freezes', { limit: 1_000 })) ?? []).map(({ node_uuid }) => node_uuid),
  );

const stripsOf = async (context: PageContext, incidents: readonly Incident[]): Promise<Strip[]> => {
  const [frozen, answers] = await Promise.all([
    freezesOf(context),
    askedLists(context.api, incidents.flatMap(({ nodes }) => nodes.map(({ uuid: node }) => [freezeRule, acknowledgeRule].map((rule) => ({ rule, node }))))),
  ]); // biome-ignore format: one question a row
  const parts = cutBy(answers, incidents.map(({ nodes }) => nodes.length)); // biome-ignore format: one line
  return incidents.map((incident, at) => {
    const { nodes } = incident;
    return {
      incident,
      answers: inAll(parts[at]!),
      frozen: nodes.filter(({ uuid }) => frozen.has(uuid)).length,
    };
  });
};

/** The open runs that the page has, and the number of all. */
type OpenRuns = { readonly open: readonly ListedRun[]; readonly total: number };

/** Asks further only if there are incidents. */
export const incidentStrips = async (context: PageContext, counts: Remembered): Promise<Strips> => {
  const found = await counts.find<Incidents>('/temper/v1/incidents');
  const large = (found?.incidents ?? []).filter(({ count }) => count >= fewest);
  const shown = large.slice(0, mostShown);
  return { shown: shown.length > 0 ? await stripsOf(context, shown) : [], left: large.length - shown.length };
};

const sharedNames = { rack: 'rack', power_feed: 'feed', conductor_group: 'conductor group', driver: 'driver' } as const;

/** A rack or a feed explains more than the driver that all nodes have. */
const sharedPlace = ({ shares }: Incident): string => {
  const given = (Object.keys(sharedNames) as (keyof typeof sharedNames)[]).filter((name) => shares[name]);
  const close = given.filter((name) => name === 'rack' || name === 'power_feed');
  const text = (close.length > 0 ? close : given).map((name) => `${sharedNames[name]} ${shares[name]}`).join(', ');
  return text === '' ? 'Several places' : `${text[0]!.toUpperCase()}${text.slice(1)}`;
};

const faultSays: Readonly<Record<string, string>> = {
  'power failure': 'BMCs stopped answering',
  'clean failure': 'nodes failed to clean',
  'service failure': 'nodes failed while they were serviced',
  'rescue abort failure': 'nodes failed to leave rescue',
  'ramdisk conflict': 'nodes have two ramdisks',
};

const whatOf = ({ fault, count }: Incident): string => {
  const [only, ...others] = Object.keys(fault);
  return `${count} ${(others.length === 0 && only && faultSays[only]) || 'nodes have faults'}`;
};

const withinOf = ({ since, until }: Incident): string => {
  const ms = Date.parse(until) - Date.parse(since);
  return ms < 1_000 ? 'at once' : `within ${spanOf(ms)}`;
};

/** Not all of them are known if the page has only a part of the nodes, or of the runs. */
const countSays = (count: number, isAll: boolean): string => (isAll ? `${count}` : `At least ${count}`);

const leasedSays = ({ nodes, count }: Incident): string => {
  const leased = nodes.filter(({ lessee }) => lessee).length;
  const isAll = count === nodes.length;
  if (leased === 0) return isAll ? 'None of them is leased.' : '';
  return `${countSays(leased, isAll)} of them ${leased === 1 ? 'is' : 'are'} leased.`;
};

const runsSay = ({ nodes, count }: Incident, { open, total }: OpenRuns): string => {
  const own = open.filter((run) => nodes.some(({ uuid }) => uuid === run.node_uuid)).length;
  const isAll = count === nodes.length && open.length >= total;
  return own === 0 ? '' : `${countSays(own, isAll)} open ${own === 1 ? 'run' : 'runs'} on them.`;
};

const mostNamed = 6;
const byName = new Intl.Collator('en', { numeric: true }).compare;

const Names = ({ incident: { nodes, count } }: { incident: Incident }) => (
  <>
    {nodes.toSorted((one, other) => byName(one.name ?? one.uuid, other.name ?? other.uuid)).slice(0, mostNamed).map((node, at) => (
      <span key={node.uuid}>
        {at > 0 && ', '}
        <NodeLink {...node} />
      </span>
    ))}
    {count > mostNamed && ` and ${count - mostNamed} more`}.
  </>
); // biome-ignore format: short parts

const Show = ({ id, incident }: { id: string; incident: Incident }) => {
  const { nodes, count, fault } = incident;
  const [only, ...others] = Object.keys(fault);
  return (
    <>
      <button type="button" popovertarget={id}>Show</button>
      <div id={id} popover="auto" role="dialog" aria-labelledby={`${id}-title`}>
        <h2 id={`${id}-title`}>{sharedPlace(incident)}: {count} nodes</h2>
        <Table
          caption="Nodes of the incident"
          rows={nodes}
          columns={[
            { title: 'Node', of: NodeLink },
            { title: 'State', of: ({ provision_state }) => <State is={provision_state} /> },
            { title: 'Fault', of: (node) => <State is={node.fault} tone="bad" /> },
            { title: 'Since', of: ({ fault_since }) => <Time at={fault_since} /> },
          ]}
        />
        <div class="foot">
          {only && others.length === 0 && <a class="button" href={addressWith('/nodes', { fault: only, sort_key: 'fault_since' })}>All nodes with this fault</a>}
          <button type="button" popovertarget={id} popovertargetaction="hide">Close</button>
        </div>
      </div>
    </>
  );
}; // biome-ignore format: short parts

type Known = Pick<Incident, 'acknowledged' | 'count' | 'until'>;

/** The person and the note. Faults that joined since are not acknowledged. */
export const AcknowledgedBy = ({ acknowledged, count }: Known) =>
  acknowledged && (
    <p class="acknowledged">
      <State is="acknowledged" tone="busy" /> by {personOf(acknowledged.requester)}, <Time at={acknowledged.at} />:{' '}
      {acknowledged.note}
      {acknowledged.count < count && ` (${acknowledged.count} of ${count} nodes)`}
    </p>
  );

type From = '/' | '/inbox';

/** It replaces an earlier note. */
export const acknowledgeOffer = ({ acknowledged, count, until }: Known, node: string, from: From): Offer => ({
  name: 'acknowledge',
  label: acknowledged && acknowledged.count >= count ? 'Change the note' : 'Acknowledge',
  rule: acknowledgeRule,
  will: 'Shows others that you know of it, until the faults end. It changes nothing on the nodes.',
  withoutReason: true,
  minor: true,
  action: '/incidents/acknowledge',
  fields: { node, until, from },
  more: <Field label="Note" name="note" required hint="Who works on it, and what is known." />,
});

/** Redirects to the page of the form. */
export const acknowledgeIncident = async ({ api, form, session }: FormContext): Promise<PageAnswer> => {
  const [node, until, note] = ['node', 'until', 'note'].map((name) => fieldOf(form, name));
  const path = '/temper/v1/incidents/acknowledge';
  const { acknowledged } = await api.send<{ acknowledged: number }>('POST', path, { node, until, note });
  const back = fieldOf(form, 'from') === '/' ? '/' : '/inbox';
  return {
    to: addressSaying(session, back, `Acknowledged on ${acknowledged} ${acknowledged === 1 ? 'node' : 'nodes'}.`),
  };
};

type StripProps = { readonly strip: Strip; readonly runs: OpenRuns; readonly session: PageContext['session'] }; // biome-ignore format: one row

const IncidentStrip = ({ strip: { incident, answers, frozen }, runs, session }: StripProps) => {
  const { nodes, count, since } = incident;
  const id = `incident-${nodes[0]!.uuid}`;
  const title = `${sharedPlace(incident)}: ${whatOf(incident)} ${withinOf(incident)}`;
  const freeze = {
    name: 'freeze',
    label: `Freeze the ${count}`,
    rule: freezeRule,
    will: `No writes to the BMCs of these ${count} nodes until each freeze ends. Runs wait.`,
    fields: { of: 'nodes', what: 'freeze', items: nodes.map(({ uuid }) => uuid).join(','), from: '/' },
  };
  // The API freezes nodes one by one, so it has to name them all.
  const canFreeze = nodes.length === count && frozen < count && answers.get(freezeRule)?.allowed;
  const canAcknowledge = answers.get(acknowledgeRule)?.allowed;
  const offers = [
    ...(canFreeze ? [freeze] : []),
    ...(canAcknowledge ? [acknowledgeOffer(incident, nodes[0]!.uuid, '/')] : []),
  ];
  return (
    <li id={id} class="card strip bad" data-key={id} data-says={title}>
      <div>
        <h3>
          <span><span class="bad" aria-hidden="true">▲</span> {title}</span>
          <span class="muted">since {since.slice(11, 16)} UTC, <Time at={since} /></span>
        </h3>
        <p><Names incident={incident} /> {runsSay(incident, runs)} {leasedSays(incident)}</p>
        <AcknowledgedBy {...incident} />
      </div>
      <div class="acts">
        {frozen === count && <State is="frozen" tone="wait" />}
        {offers.length > 0 && (
          <Acts id={id} offers={offers} answers={answers} about={{ kind: 'node', object: nodes[0]!.uuid }} session={session} actionOf={() => '/inbox/acts'} />
        )}
        <Show id={`${id}-show`} incident={incident} />
      </div>
    </li>
  );
}; // biome-ignore format: short parts

type Props = { readonly strips: Strips; readonly runs: OpenRuns; readonly session: PageContext['session'] }; // biome-ignore format: one row

export const IncidentStrips = ({ strips: { shown, left }, runs, session }: Props) =>
  shown.length === 0 ? null : (
    <>
      <ul class="cards" aria-label="Incidents">
        {shown.map((strip) => <IncidentStrip key={strip.incident.nodes[0]!.uuid} strip={strip} runs={runs} session={session} />)}
      </ul>
      {left > 0 && <Notice tone="bad" says={<>{left} more {left === 1 ? 'incident' : 'incidents'}. <a href="/inbox#failing">See all failing nodes</a></>} />}
    </>
  ); // biome-ignore format: short parts
