/** Components of the console on one page, for those who develop it; only `npm start` serves it. */
import { iconNames } from '../icons';
import { Acts } from '../parts/acts';
import { AsTable, CalmPicture, dayOf, GanttAxis, GanttBar, Legend, PartsBar, Sparkline, StackedDays, stretchOf } from '../parts/charts'; // biome-ignore format: one line
import { Choice, Field, Lines } from '../parts/forms';
import { Icon } from '../parts/icons';
import { Table } from '../parts/tables';
import { Empty, Facts, Id, Notice, State, Time, Title, type Tone } from '../parts/texts';
import { ApiRefusal } from '../server/api';
import type { PageAnswer, PageContext } from '../server/context';

const tones: readonly (readonly [Tone, string])[] = [
  ['good', 'available'],
  ['busy', 'cleaning'],
  ['wait', 'parked'],
  ['bad', 'clean failed'],
  ['idle', 'pending'],
];
const someId = '0b646ce1-7c3e-4d7e-9c55-0f3a5f4c2b11';
const rule = 'temper:run:retry';
const refusedRule = 'temper:run:skip';

const offers = [
  { name: 'retry', label: 'Retry step', rule, will: 'The step is run again.' },
  { name: 'fail', label: 'Fail run', rule, will: 'The run ends as failed.', danger: true },
  { name: 'skip', label: 'Skip step', rule: refusedRule, will: '' },
];
const answers = new Map([
  [rule, { rule, allowed: true, reason: null }],
  [refusedRule, { rule: refusedRule, allowed: false, reason: null }],
]);

const States = () => (
  <section class="card" aria-labelledby="states">
    <h2 id="states">States: colour, shape, word, tint</h2>
    <div class="acts">{tones.map(([tone, word]) => <State key={tone} is={word} tone={tone} />)}</div>
    {tones.map(([tone, word]) => <Notice key={tone} tone={tone} says={`A notice of a node that is ${word}.`} />)}
  </section>
); // biome-ignore format: short parts

const Inputs = () => (
  <section class="card" aria-labelledby="inputs">
    <h2 id="inputs">Fields</h2>
    <div class="row">
      <Field label="Name" name="name" hint="Must start with CUSTOM_, capitals only" />
      <Field label="Node ID" name="node" value="bmc-14" fault="“bmc-14” is not a node ID" />
      <Choice label="State" name="state" options={['any', 'available', 'active']} />
      <Lines label="Nodes" name="nodes" hint="One name or ID per line" />
    </div>
  </section>
);

const Buttons = ({ session }: Pick<PageContext, 'session'>) => (
  <section class="card" aria-labelledby="buttons">
    <h2 id="buttons">Actions: one primary button, dialogs that say what follows, reasons why not</h2>
    <Acts
      id="guide"
      offers={offers}
      answers={answers}
      session={session}
      actionOf={() => '/styleguide'}
      about={{ kind: 'run', object: someId }}
    />
  </section>
);

const Rows = () => (
  <Table
    heading
    caption="A table with rows of 32 px"
    rows={tones}
    columns={[
      { title: 'Node', of: ([, word]) => <a href="/nodes">bmc-{word.length}</a> },
      { title: 'State', of: ([tone, word]) => <State is={word} tone={tone} /> },
      { title: 'ID', of: () => <Id id={someId} /> },
      { title: 'Since', of: () => <Time at="2026-11-24T03:27:41Z" /> },
      { title: 'Why', long: true, of: ([tone]) => tone === 'bad' && 'The BMC did not answer within 90 s.' },
    ]}
  />
);

const someDays = [3, 1, 0, 4, 2, 6, 1].map((value, at) => ({ at: new Date(Date.UTC(2026, 10, 18 + at)), value }));
const someSeries = [{ key: 'bmc', label: 'BMC did not answer' }, { key: 'job', label: 'BMC job failed' }]; // biome-ignore format: one row
const someBars = [
  { tone: 'busy', from: -4, usual: 6, says: 'running for 4 min, usually 6 min' },
  { tone: 'wait', from: -9, usual: undefined, says: 'parked for 9 min' },
] as const;

const Charts = () => (
  <section class="card" aria-labelledby="charts">
    <h2 id="charts">Charts: drawn by the server, each with its table</h2>
    <Sparkline points={someDays} label="Failed runs, 7 days" />
    <PartsBar parts={[{ label: 'in use', tone: 'good', value: 14 }, { label: 'free', tone: 'idle', value: 20 }, { label: 'failing', tone: 'bad', value: 6 }]} label="14 in use, 20 free, 6 failing" />
    <StackedDays days={someDays.map(({ at, value }) => ({ at, counts: { bmc: value, job: value % 3 } }))} series={someSeries} label="Failures of seven days" />
    <Legend series={someSeries} />
    {someBars.map((bar) => <GanttBar key={bar.says} bar={bar} stretch={stretchOf(someBars)} />)}
    <GanttAxis stretch={stretchOf(someBars)} />
    <AsTable id="charts" label="Failed runs" heads={['Day', 'Failed']} rows={someDays.map(({ at, value }) => [dayOf(at), String(value)])} />
    <CalmPicture />
  </section>
); // biome-ignore format: short parts

const Icons = () => (
  <section class="card" aria-labelledby="icons">
    <h2 id="icons">Icons</h2>
    <div class="acts">{iconNames.map((name) => <span key={name} class="line"><Icon is={name} />{name}</span>)}</div>
  </section>
); // biome-ignore format: short parts

export const styleguidePage = async ({ settings, session }: PageContext): Promise<PageAnswer> => {
  if (!settings.demo) throw new ApiRefusal(404, 'The console has no such page.');
  const body = (
    <>
      <Title text="Style guide" />
      <States />
      <Buttons session={session} />
      <Inputs />
      <Rows />
      <Facts rows={[['ID', <Id id={someId} />], ['Owner', 'owner-project'], ['Class', 'compute'], ['In this state', <Time at="2026-11-24T03:27:41Z" />]]} />
      <Empty icon="server" title="No nodes yet">
        <p>An empty list says what it is, and offers one button.</p>
        <a class="button" href="/nodes">See all nodes</a>
      </Empty>
      <Charts />
      <Icons />
    </>
  ); // biome-ignore format: short parts
  return { title: 'Style guide', body };
};
