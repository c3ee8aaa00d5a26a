/** Overview: five figures with what is behind them, runs under way, and failures a day. */
import type { ComponentChildren } from 'preact';
import type { Summary } from '../../wire/installation';
import type { RunReport } from '../../wire/reports';
import type { ListedRun } from '../../wire/runs';
import { AsTable, type Bar, dayOf, GanttAxis, GanttBar, Legend, PartsBar, type Point, type Share, Sparkline, StackedDays, stretchOf } from '../parts/charts'; // biome-ignore format: one line
import { Empty, spanOf, stateWord, toneOf, toneShapes } from '../parts/texts';
import { addressWith } from '../server/api';
import type { Unit } from './fleet-groups';
import { failingIn, stateOfNode, usedIn } from './node-standing';
import { endedOf, failedOf, failuresOf, lately, pointsOf, type Reports, succeededOf, usualMinutes, usualSeconds } from './run-reports'; // biome-ignore format: one line
import { runAddress, runState, runWork } from './runs';

type FigureProps = {
  readonly id: string;
  readonly label: string;
  readonly href: string;
  readonly value: ComponentChildren;
  readonly beside?: ComponentChildren;
  readonly below: string;
  readonly children?: ComponentChildren;
};

const Figure = ({ id, label, href, value, beside, below, children }: FigureProps) => (
  <li class="card figure" id={id} data-key={id} data-says={typeof value === 'string' ? `${label}: ${value}` : undefined}>
    <a href={href}>{label}</a>
    <p class="value"><b>{value}</b> {beside}</p>
    <p class="muted">{below}</p>
    {children}
  </li>
); // biome-ignore format: short parts

const shareOf = (part: number, whole: number): string => (whole === 0 ? '–' : `${Math.round((100 * part) / whole)} %`);

type PartsProps = { readonly id: string; readonly label: string; readonly parts: readonly Share[] };

const Parts = ({ id, label, parts }: PartsProps) => (
  <>
    <PartsBar parts={parts} label={`${label}: ${parts.map(({ label: name, value }) => `${value} ${name}`).join(', ')}`} />
    <AsTable id={id} label={label} heads={['Nodes', 'Count']} rows={parts.map(({ label: name, value }) => [name, String(value)])} />
  </>
); // biome-ignore format: short parts

type TrendProps = { readonly id: string; readonly label: string; readonly points: readonly Point[]; readonly say?: (value: number) => string }; // biome-ignore format: one row

const Trend = ({ id, label, points, say = String }: TrendProps) => {
  const last = points.findLast(({ value }) => value !== null)?.value;
  return (
    <>
      <Sparkline points={points} label={`${label}, ${points.length} days, last ${last === undefined || last === null ? 'unknown' : say(last)}`} />
      <AsTable id={id} label={label} heads={['Day (UTC)', label]} rows={points.map(({ at, value }) => [dayOf(at), value === null ? null : say(value)])} />
    </>
  );
}; // biome-ignore format: short parts

/** A rise is good or bad, by the figure. */
const Rise = ({ now, before, say = String, goodUp }: { now: number; before: number; say?: (value: number) => string; goodUp?: boolean }) => {
  if (now === before) return null;
  const up = now > before;
  return (
    <span class={up === (goodUp ?? false) ? 'good' : 'bad'}>
      <span aria-hidden="true">{up ? '▲' : '▼'}</span>
      <span class="hidden">{up ? 'up by' : 'down by'}</span> {say(Math.abs(now - before))}
      <span class="hidden"> since the week before</span>
    </span>
  );
}; // biome-ignore format: short parts

/** Counted one by one where the page has all nodes, because a node with two troubles counts once. */
export const failingOf = ({ nodes }: Summary, units: readonly Unit[] | undefined): number =>
  units ? units.filter((unit) => stateOfNode(unit).tone === 'bad').length : failingIn(nodes);

const HealthyFigure = ({ summary, units }: { summary: Summary; units: readonly Unit[] | undefined }) => {
  const { count, maintenance } = summary.nodes;
  const failing = failingOf(summary, units);
  const healthy = count - failing;
  const silent = summary.nodes.fault['power failure'] ?? 0;
  return (
    <Figure id="healthy" label="Healthy nodes" href="/nodes" value={String(healthy)} beside={failing > 0 && <span class="bad"><span aria-hidden="true">▲</span> {failing} failing</span>}
      below={`of ${count}; ${silent} without answer, ${maintenance} in maintenance`}>
      <Parts id="healthy" label="Nodes by health" parts={[{ label: 'healthy', tone: 'good', value: healthy }, { label: 'failing', tone: 'bad', value: failing }]} />
    </Figure>
  );
}; // biome-ignore format: short parts

const UsedFigure = ({ summary: { nodes } }: { summary: Summary }) => {
  const used = usedIn(nodes);
  const free = nodes.provision_state.available ?? 0;
  const active = nodes.provision_state.active ?? 0;
  const parts: Share[] = [
    { label: 'active', tone: 'good', value: active },
    { label: 'in service, rescue or error', tone: 'busy', value: used - active },
    { label: 'free', tone: 'idle', value: free },
    { label: 'in other states', tone: 'wait', value: Math.max(0, nodes.count - used - free) },
  ];
  return (
    <Figure id="used" label="In use" href="/nodes?provision_state=active" value={String(used)} beside={<span class="muted">{shareOf(used, nodes.count)}</span>}
      below={`${free} free, ${parts[3]!.value} in other states`}>
      <Parts id="used" label="Nodes by use" parts={parts} />
    </Figure>
  );
}; // biome-ignore format: short parts

const NoReport = ({ id, label, href }: Pick<FigureProps, 'id' | 'label' | 'href'>) => (
  <Figure id={id} label={label} href={href} value="–" below="The report is not available." />
);

const week = 7;

const FailedFigure = ({ report }: { report: RunReport }) => {
  const [now, before] = lately(report, week);
  return (
    <Figure id="failed" label={`Failed runs, ${week} days`} href="/runs?state=failed" value={String(failedOf(now))} beside={<Rise now={failedOf(now)} before={failedOf(before)} />}
      below={`of ${endedOf(now)} that ended`}>
      <Trend id="failed" label="Failed runs" points={pointsOf(report, failedOf)} />
    </Figure>
  );
}; // biome-ignore format: short parts

const SucceededFigure = ({ report }: { report: RunReport }) => {
  const [now, before] = lately(report, week);
  const percent = (rows: typeof now): number => Math.round((100 * succeededOf(rows)) / Math.max(1, endedOf(rows)));
  const known = (rows: typeof now): number | null => (endedOf(rows) === 0 ? null : percent(rows));
  return (
    <Figure id="succeeded" label={`Successful runs, ${week} days`} href="/runs?state=succeeded" value={shareOf(succeededOf(now), endedOf(now))}
      beside={endedOf(now) > 0 && endedOf(before) > 0 && <Rise now={percent(now)} before={percent(before)} say={(points) => `${points} % points`} goodUp />}
      below={`${succeededOf(now)} of ${endedOf(now)} that ended`}>
      <Trend id="succeeded" label="Successful runs" points={pointsOf(report, known)} say={(points) => `${points} %`} />
    </Figure>
  );
}; // biome-ignore format: short parts

const deploying: readonly string[] = ['active', 'deploy', 'rebuild'];

/** Deployments, or what else runs most where nothing is deployed. */
const timedVerbs = ({ report }: RunReport): { label: string; verbs: readonly string[] } => {
  if (report.some(({ value, succeeded }) => value !== null && deploying.includes(value) && succeeded > 0))
    return { label: 'Median deploy', verbs: deploying };
  const counts: Record<string, number> = {};
  for (const { value, succeeded } of report) if (value) counts[value] = (counts[value] ?? 0) + succeeded;
  const [most] = Object.keys(counts).toSorted((one, other) => counts[other]! - counts[one]!);
  return most === undefined ? { label: 'Median deploy', verbs: deploying } : { label: `Median ${most}`, verbs: [most] };
};

const secondsSpan = (seconds: number): string => {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return spanOf(whole * 1_000);
};

const MedianFigure = ({ report }: { report: RunReport }) => {
  const { label, verbs } = timedVerbs(report);
  const of = (rows: RunReport['report']) => usualSeconds(rows.filter(({ value }) => value !== null && verbs.includes(value)));
  const [now, before] = lately(report, week).map((rows) => of(rows)) as [number | null, number | null];
  const shown = now ?? of(report.report);
  return (
    <Figure id="median" label={label} href={addressWith('/runs', { verb: verbs[0], state: 'succeeded' })} value={shown === null ? '–' : secondsSpan(shown)}
      beside={now !== null && before !== null && <Rise now={Math.round(now)} before={Math.round(before)} say={secondsSpan} />}
      below={shown === null ? 'No run has succeeded yet.' : `of the last ${now === null ? 2 * week : week} days`}>
      <Trend id="median" label={label} points={pointsOf(report, of)} say={secondsSpan} />
    </Figure>
  );
}; // biome-ignore format: short parts

type FiguresProps = {
  readonly summary: Summary;
  readonly units: readonly Unit[] | undefined;
  readonly reports: Reports;
};

export const Figures = ({ summary, units, reports: { verb } }: FiguresProps) => (
  <ul class="figures" aria-label="Figures">
    <HealthyFigure summary={summary} units={units} />
    <UsedFigure summary={summary} />
    {verb ? <SucceededFigure report={verb} /> : <NoReport id="succeeded" label="Successful runs" href="/runs?state=succeeded" />}
    {verb ? <FailedFigure report={verb} /> : <NoReport id="failed" label="Failed runs" href="/runs?state=failed" />}
    {verb ? <MedianFigure report={verb} /> : <NoReport id="median" label="Median deploy" href="/runs?state=succeeded" />}
  </ul>
); // biome-ignore format: short parts

const minuteMs = 60_000;
const beganAt = (run: ListedRun): number => Date.parse(run.started_at ?? run.created_at);

const barOf = (reports: Reports, run: ListedRun, now: number): Bar => {
  const usual = usualMinutes(reports, run);
  const state = runState(run);
  const took = spanOf(now - beganAt(run));
  const says = `${stateWord(state)} for ${took}${usual === undefined ? '' : `, usually ${secondsSpan(usual * 60)}`}`;
  return { tone: toneOf(state) === 'idle' ? 'busy' : toneOf(state), from: -Math.max(0, now - beganAt(run)) / minuteMs, usual, says };
}; // biome-ignore format: one row

type UnderWayProps = { readonly runs: readonly ListedRun[]; readonly total: number; readonly reports: Reports };

/** The longest runs first. */
export const UnderWay = ({ runs, total, reports }: UnderWayProps) => {
  const now = Date.now();
  const rows = runs.map((run) => ({ run, bar: barOf(reports, run, now) }));
  const stretch = stretchOf(rows.map(({ bar }) => bar));
  return (
    <section class="card" aria-labelledby="under-way">
      <header>
        <h2 id="under-way">Under way</h2>
        <span class="muted">{rows.length < total && `the oldest ${rows.length} of `}{total} {total === 1 ? 'run' : 'runs'}</span>
        <a class="end" href="/runs">All runs</a>
      </header>
      {rows.length === 0 && <Empty icon="activity" title="No open runs" />}
      {rows.length > 0 && (
        <>
          <ol class="gantt-rows">
            {rows.map(({ run, bar }) => (
              <li key={run.uuid} data-key={run.uuid} data-says={`${run.node_name ?? run.node_uuid}: ${stateWord(runState(run))}`}>
                <a href={runAddress(run)}><span class={bar.tone} aria-hidden="true">{toneShapes[bar.tone]}</span> <b>{run.node_name ?? run.node_uuid.slice(0, 8)}</b> {runWork(run)}</a>
                <GanttBar bar={bar} stretch={stretch} />
              </li>
            ))}
            <li aria-hidden="true"><span /><GanttAxis stretch={stretch} /></li>
          </ol>
          <p class="muted">Bar: time so far. Outline: usual time of such runs.</p>
          <AsTable
            id="under-way"
            label="Runs under way"
            heads={['Run', 'State', 'So far', 'Usually']}
            rows={rows.map(({ run, bar }) => [`${run.node_name ?? run.node_uuid}, ${runWork(run)}`, stateWord(runState(run)), spanOf(-bar.from * minuteMs), bar.usual === undefined ? null : secondsSpan(bar.usual * 60)])}
          />
        </>
      )}
    </section>
  );
}; // biome-ignore format: short parts

export const FailuresADay = ({ report }: { report: RunReport | undefined }) => {
  const { series, days, total } = report ? failuresOf(report) : { series: [], days: [], total: 0 };
  const label = `Failed and aborted runs a day by cause: ${total} in ${days.length} days`;
  return (
    <section class="card" aria-labelledby="failures">
      <header>
        <h2 id="failures">Failures a day</h2>
        <span class="muted">{days.length > 0 && `${days.length} days, `}failed and aborted runs by cause</span>
        <a class="end" href="/runs?state=failed">Failed runs</a>
      </header>
      {!report && <Empty title="The report is not available." />}
      {report && total === 0 && <Empty icon="circle-check" title="No failures in two weeks" />}
      {total > 0 && (
        <>
          <StackedDays days={days} series={series} label={label} />
          <Legend series={series} />
          <AsTable
            id="failures"
            label="Failures a day"
            heads={['Day (UTC)', ...series.map(({ label: name }) => name)]}
            rows={days.map(({ at, counts }) => [dayOf(at), ...series.map(({ key }) => String(counts[key] ?? 0))])}
          />
        </>
      )}
    </section>
  );
}; // biome-ignore format: short parts
