/** Search: nodes, runs, rollouts, runbooks and projects by the beginning of a name, an ID or an address, and commands. */
import type { ComponentChildren } from 'preact';
import type { Found } from '../../wire/installation';
import { type Command, commandRules, commandsFor } from '../commands';
import { askedRules } from '../parts/acts';
import { Field, Send } from '../parts/forms';
import { Empty, nodeAddress, State, Title } from '../parts/texts';
import { ApiRefusal, addressWith } from '../server/api';
import type { PageAnswer, PageContext } from '../server/context';
import type { NodeView } from '../views';
import { stateOfNode } from './node-standing';
import { runTitle } from './runs';

/** The API searches for no less. */
export const shortest = 2;

type Result = { readonly href: string; readonly label: string; readonly beside?: ComponentChildren };
type Group = { readonly title: string; readonly results: readonly Result[]; readonly more: boolean };

const fieldNames = { name: '', uuid: 'ID', address: 'MAC', serial_number: 'serial number', rack: 'rack' } as const;

const nodeResult = (node: Found['nodes'][number]): Result => {
  const { tone, word } = stateOfNode(node as unknown as NodeView);
  const by = fieldNames[node.matched];
  return {
    href: nodeAddress(node),
    label: node.name ?? node.uuid,
    beside: <><State is={word} tone={tone} /> {by && <span class="muted">{by} {node.value}</span>}</>,
  }; // biome-ignore format: one row
};

const foundGroups = ({ nodes, runs, rollouts, runbooks, projects, more }: Found): Group[] => [
  { title: 'Nodes', more: more.includes('nodes'), results: nodes.map(nodeResult) },
  {
    title: 'Runs',
    more: more.includes('runs'),
    results: runs.map((run) => ({ href: `/runs/${run.uuid}`, label: runTitle(run), beside: <><State is={run.state} /> <span class="muted">{run.uuid.slice(0, 8)}</span></> })),
  },
  {
    title: 'Rollouts',
    more: more.includes('rollouts'),
    results: rollouts.map(({ uuid, name, verb, state }) => ({ href: `/rollouts/${uuid}`, label: name ?? `${verb}, ${uuid.slice(0, 8)}`, beside: <State is={state} /> })),
  },
  {
    title: 'Runbooks',
    more: more.includes('runbooks'),
    results: runbooks.map(({ name, description }) => ({ href: `/runbooks/${encodeURIComponent(name)}`, label: name, beside: description && <span class="muted">{description}</span> })),
  },
  {
    title: 'Projects',
    more: false,
    results: projects.map(({ id, name }) => ({ href: addressWith('/nodes', { owner: id }), label: name ?? id, beside: <span class="muted">its nodes</span> })),
  },
]; // biome-ignore format: one row

const commandGroup = (commands: readonly Command[]): Group => ({
  title: 'Commands',
  results: commands.map(({ href, label }) => ({ href, label })),
  more: false,
});

const Results = ({ groups }: { groups: readonly Group[] }) => (
  <>
    {groups.map(({ title, results, more }) => (
      <section key={title} class="found" aria-label={title}>
        <h2>{title}</h2>
        <ul class="results">
          {results.map(({ href, label, beside }) => (
            <li key={href}>
              <a href={href}>{label}</a> {beside}
            </li>
          ))}
        </ul>
        {more && <p class="muted">There are more. Type more characters.</p>}
      </section>
    ))}
  </>
);

type SearchAnswer = { readonly found?: Found; readonly fault?: string };

/** A text that the API refuses is shown with its reason. Throws as get. */
const searched = async ({ api }: PageContext, q: string): Promise<SearchAnswer> => {
  if (q.length < shortest) return {};
  try {
    return { found: await api.get<Found>('/temper/v1/search', { q }) };
  } catch (thrown) {
    if (!(thrown instanceof ApiRefusal && thrown.status === 400)) throw thrown;
    return { fault: thrown.says.replace(/^q: /, '') };
  }
};

const saysOf = (groups: readonly Group[]): string => {
  const many = groups.reduce((all, { results }) => all + results.length, 0);
  return many === 0 ? 'Nothing found' : `${many} found`;
};

export const searchPage = async (context: PageContext): Promise<PageAnswer> => {
  const q = (context.query.q ?? '').trim();
  const [{ found, fault }, answers] = await Promise.all([
    searched(context, q),
    askedRules(context.api, commandRules.map((rule) => ({ rule }))),
  ]); // biome-ignore format: one question a row
  const rights = new Set([...answers].flatMap(([rule, { allowed }]) => (allowed ? [rule] : [])));
  const all = [...(found ? foundGroups(found) : []), commandGroup(commandsFor(q, rights))];
  const groups = all.filter(({ results }) => results.length > 0);
  const body = (
    <>
      <Title text="Search" />
      <search><form action="/search" class="row" aria-label="Everything">
        <Field label="Text" name="q" value={q} fault={fault} hint="The beginning of a name, ID, MAC address, serial number or rack" />
        <Send tone="primary" label="Search" />
      </form></search>
      <div id="results" class="stack">
        <p class="hidden" data-key="found" data-says={saysOf(groups)}>{saysOf(groups)}</p>
        <Results groups={groups} />
        {groups.length === 0 && q.length < shortest && <Empty icon="search" title={`Type at least ${shortest} characters.`} />}
        {groups.length === 0 && found && <Empty icon="search" title={`Nothing begins with “${q}”.`}><p>It doesn’t exist or you don’t have access.</p></Empty>}
      </div>
    </>
  ); // biome-ignore format: short parts
  return { title: 'Search', body, ...(fault && { status: 400 }) };
};
