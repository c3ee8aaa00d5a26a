/** Overview: incidents, figures, racks, decisions, runs under way and failures, from counts that the API makes. */
import type { Summary } from '../../wire/installation';
import type { ListedRun } from '../../wire/runs';
import { askedRules, Done } from '../parts/acts';
import { CalmPicture } from '../parts/charts';
import { wantedOf } from '../parts/list';
import { Live } from '../parts/live';
import { Empty, Title } from '../parts/texts';
import type { PageQuery } from '../server/api';
import type { PageAnswer, PageContext } from '../server/context';
import { rememberedBy } from '../server/remembered';
import { countText, type Decision, Decisions, decisionsOf } from './decisions';
import { FirstSteps, firstStepAsks } from './first-steps';
import { FleetGroups, fleetOf, mostUnits } from './fleet-groups';
import { IncidentStrips, incidentStrips } from './incidents';
import { FailuresADay, Figures, failingOf, UnderWay } from './overview-charts';
import { reportsOf } from './run-reports';

/** Of a caller who may list none. */
const noNodes: Summary = {
  nodes: { count: 0, provision_state: {}, power_state: {}, fault: {}, maintenance: 0 },
  runs: { phase: {} },
};

const mostBars = 12;
const mostDecisions = 3;

const overviewData = async (context: PageContext, query: PageQuery) => {
  const { api } = context;
  const counts = rememberedBy(context);
  const summary = counts.find<Summary>('/temper/v1/summary').then((found) => found ?? noNodes);
  const [counted, fleet, strips, open, decided, reports] = await Promise.all([
    summary,
    fleetOf(context, counts, summary, query),
    incidentStrips(context, counts),
    api.list<ListedRun>('/temper/v1/runs', { state: 'open', sort_dir: 'asc', limit: mostBars }),
    decisionsOf(context, summary),
    reportsOf(counts),
  ]);
  if (counted.nodes.count > mostUnits) counts.keep();
  return { summary: counted, fleet, strips, open, ...decided, reports, isOld: counts.isOld };
};

type Data = Awaited<ReturnType<typeof overviewData>>;

const Calm = () => (
  <section class="card calm-strip" aria-label="All clear">
    <CalmPicture />
    <div>
      <h2>All clear</h2>
      <p class="muted">No node is failing, and nothing needs a decision.</p>
    </div>
  </section>
);

type InboxProps = { readonly decisions: readonly Decision[]; readonly counted: number; readonly failing: number; readonly session: PageContext['session'] }; // biome-ignore format: one row

const InboxCard = ({ decisions, counted, failing, session }: InboxProps) => (
  <section class="card inbox" aria-labelledby="decisions">
    <header>
      <h2 id="decisions">Needs a decision</h2>
      <span class="muted">{counted > 0 ? 'oldest first' : ''}</span>
      <a class="end" href="/inbox">Inbox{counted > 0 && `: ${countText(counted)}`}</a>
    </header>
    {decisions.length === 0 && (
      <Empty icon="inbox" title="No decisions">
        {failing > 0 && <p><a href="/inbox#failing">{failing} failing {failing === 1 ? 'node' : 'nodes'}</a></p>}
      </Empty>
    )}
    <Decisions decisions={decisions.slice(0, mostDecisions)} from="/" session={session} />
  </section>
); // biome-ignore format: short parts

const scaleOf = ({ summary, fleet }: Data): string => {
  const { count } = summary.nodes;
  const racks = fleet.division === 'rack' ? fleet.groups.filter(({ value }) => value !== null).length : 0;
  const nodes = `${count} ${count === 1 ? 'node' : 'nodes'}`;
  return racks > 0 && !fleet.isPart ? `${nodes} in ${racks} ${racks === 1 ? 'rack' : 'racks'}` : nodes;
};

const openIn = ({ runs }: Summary): number => Object.values(runs.phase).reduce((all, one) => all + one, 0);

const Whole = ({ data, query, session }: { data: Data; query: PageQuery; session: PageContext['session'] }) => {
  const { summary, fleet, strips, open, decisions, counted, reports } = data;
  const failing = failingOf(summary, fleet.units);
  // Counts may be some seconds older than the list.
  const total = Math.max(openIn(summary), open.length);
  return (
    <>
      <Title text="Overview"><span class="muted">{scaleOf(data)}</span></Title>
      {failing + counted === 0 && <Calm />}
      <IncidentStrips strips={strips} runs={{ open, total }} session={session} />
      <Figures summary={summary} units={fleet.units} reports={reports} />
      <div class="uneven">
        <FleetGroups fleet={fleet} query={query} />
        <InboxCard decisions={decisions} counted={counted} failing={failing} session={session} />
      </div>
      <div class="halves">
        <UnderWay runs={open} total={total} reports={reports} />
        <FailuresADay report={reports.cause} />
      </div>
    </>
  );
}; // biome-ignore format: short parts

export const overviewPage = async (context: PageContext): Promise<PageAnswer> => {
  const { session } = context;
  const query = wantedOf(context.query, ['by', 'after']);
  const data = await overviewData(context, query);
  const none = data.summary.nodes.count === 0;
  const can = none ? await askedRules(context.api, firstStepAsks) : undefined;
  const body = (
    <>
      <Done {...context} />
      <Live id="overview" events="/live" path="/" query={query} atOnce={data.isOld}>
        {none && <Title text="Overview" />}
        {can && <FirstSteps can={can} session={session} />}
        {none && data.counted > 0 && <Decisions decisions={data.decisions} from="/" session={session} />}
        {!none && <Whole data={data} query={query} session={session} />}
      </Live>
    </>
  ); // biome-ignore format: short parts
  return { title: 'Overview', body };
};
