/** Charts as SVG that the server draws: classes in place of styles, and a table behind each. */
import { scaleBand, scaleLinear } from 'd3-scale';
import { area, line, stack } from 'd3-shape';
import type { ComponentChildren } from 'preact';
import { Table } from './tables';
import type { Tone } from './texts';

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
export const dayOf = (at: Date): string => dayFormat.format(at);

type AsTableProps = {
  /** Unique on the page. */
  readonly id: string;
  readonly label: string;
  readonly heads: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
};

/** The figures of a chart, for those who cannot see it or want to copy them. */
export const AsTable = ({ id, label, heads, rows }: AsTableProps) => (
  <details id={`${id}-table`} class="as-table">
    <summary>
      Open as table<span class="hidden">: {label}</span>
    </summary>
    <Table
      caption={label}
      rows={rows}
      columns={heads.map((title, at) => ({ title, of: (row: readonly ComponentChildren[]) => row[at] }))}
    />
  </details>
);

/** A day without a value leaves a gap. */
export type Point = { readonly at: Date; readonly value: number | null };

const spark = { width: 160, height: 32, margin: 2 } as const;

export const Sparkline = ({ points, label }: { points: readonly Point[]; label: string }) => {
  const { width, height, margin } = spark;
  const most = Math.max(1, ...points.map(({ value }) => value ?? 0));
  const x = scaleLinear([0, Math.max(1, points.length - 1)], [margin, width - margin]);
  const y = scaleLinear([0, most], [height - margin, margin]);
  const xOf = (_: Point, at: number): number => x(at);
  const yOf = ({ value }: Point): number => y(value ?? 0);
  const isKnown = ({ value }: Point): boolean => value !== null;
  const above = line<Point>().defined(isKnown).x(xOf).y(yOf).digits(1);
  const below = area<Point>().defined(isKnown).x(xOf).y0(height).y1(yOf).digits(1);
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="area" d={below([...points]) ?? ''} />
      <path class="line" d={above([...points]) ?? ''} />
    </svg>
  );
};

export type Share = { readonly label: string; readonly tone: Tone; readonly value: number };

/** Parts of a whole, from left to right. */
export const PartsBar = ({ parts, label }: { parts: readonly Share[]; label: string }) => {
  const whole = parts.reduce((all, { value }) => all + value, 0);
  const x = scaleLinear([0, Math.max(1, whole)], [0, 100]);
  const startOf = (at: number): number => parts.slice(0, at).reduce((all, { value }) => all + value, 0);
  return (
    <svg class="parts" width="100%" height="10" role="img" aria-label={label}>
      {parts.map(({ label: name, tone, value }, at) => value > 0 && (
        <rect key={name} class={`fill ${tone}`} x={`${x(startOf(at))}%`} width={`${x(value)}%`} height="10">
          <title>{`${name}: ${value}`}</title>
        </rect>
      ))}
    </svg>
  );
}; // biome-ignore format: one shape

/** Counts of one day by key. */
export type DayCounts = { readonly at: Date; readonly counts: Readonly<Record<string, number>> };
export type Series = { readonly key: string; readonly label: string };

const bars = { height: 190, top: 8, bottom: 24, left: 7 } as const;

/** Columns of days, stacked in the order of the series, whose place chooses their color. */
export const StackedDays = ({ days, series, label }: { days: readonly DayCounts[]; series: readonly Series[]; label: string }) => {
  const { height, top, bottom, left } = bars;
  const floor = height - bottom;
  const totals = days.map(({ counts }) => series.reduce((all, { key }) => all + (counts[key] ?? 0), 0));
  const y = scaleLinear([0, Math.max(4, ...totals)], [floor, top]).nice(4);
  const x = scaleBand(days.map((_, at) => at), [left, 100]).paddingInner(0.4).paddingOuter(0.2);
  const layers = stack<DayCounts>().keys(series.map(({ key }) => key)).value(({ counts }, key) => counts[key] ?? 0)([...days]);
  return (
    <svg class="days" width="100%" height={height} role="img" aria-label={label}>
      {y.ticks(4).filter(Number.isInteger).map((tick) => (
        <g key={tick}>
          <line class="rule" x1={`${left}%`} x2="100%" y1={y(tick)} y2={y(tick)} />
          <text x={`${left - 1.5}%`} y={y(tick) + 4} text-anchor="end">{tick}</text>
        </g>
      ))}
      {layers.map((layer, place) => layer.map(([low, high], at) => high > low && (
        <rect key={at} class={`series-${place}`} x={`${x(at)}%`} width={`${x.bandwidth()}%`} y={y(high)} height={Math.max(1, y(low) - y(high) - 1)} rx="1">
          <title>{`${dayOf(days[at]!.at)}: ${high - low} ${series[place]!.label}`}</title>
        </rect>
      )))}
      {days.map(({ at: day }, at) => (days.length - 1 - at) % 2 === 0 && (
        <text key={at} x={`${(x(at) ?? 0) + x.bandwidth() / 2}%`} y={height - 6} text-anchor="middle">{day.getUTCDate()}</text>
      ))}
    </svg>
  );
}; // biome-ignore format: one shape a row

export const Legend = ({ series }: { series: readonly Series[] }) => (
  <ul class="legend">
    {series.map(({ key, label }, place) => (
      <li key={key}>
        <svg width="10" height="10" aria-hidden="true">
          <rect class={`series-${place}`} width="10" height="10" rx="2" />
        </svg>
        {label}
      </li>
    ))}
  </ul>
);

/** Minutes before now are negative. */
export type Bar = { readonly tone: Tone; readonly from: number; readonly usual: number | undefined; readonly says: string }; // biome-ignore format: one row

type Stretch = readonly [from: number, until: number];

/** Minutes of a bar that is shown: a longer past, and a longer future, is cut off. */
const reach = { least: 2, past: 60, future: 30 } as const;

/** From the first begin to now, or to the latest end that is usual. */
export const stretchOf = (all: readonly Bar[]): Stretch => {
  const ends = all.map(({ from, usual = 0 }) => Math.max(0, from + usual));
  const first = Math.max(-reach.past, Math.min(-reach.least, ...all.map(({ from }) => from)));
  return [first, Math.min(reach.future, Math.max(0, ...ends))];
};

const ticksOf = (stretch: Stretch): number[] => scaleLinear(stretch, [0, 1]).ticks(4).filter(Number.isInteger);

/** One run: the time that it has taken, before the time that such runs usually take. */
export const GanttBar = ({ bar, stretch }: { bar: Bar; stretch: Stretch }) => {
  const x = scaleLinear(stretch, [0, 99]).clamp(true);
  const { tone, from, usual, says } = bar;
  const widthTo = (end: number): string => `${Math.max(0.6, x(end) - x(from))}%`;
  return (
    <svg class="gantt" width="100%" height="22" role="img" aria-label={says}>
      <title>{says}</title>
      {ticksOf(stretch).map((tick) => <line key={tick} class="rule" x1={`${x(tick)}%`} x2={`${x(tick)}%`} y1="0" y2="22" />)}
      {usual !== undefined && <rect class="usual" x={`${x(from)}%`} width={widthTo(from + usual)} y="4" height="14" rx="3" />}
      <rect class={`fill ${tone}`} x={`${x(from)}%`} width={widthTo(0)} y="7" height="8" rx="2" />
    </svg>
  );
}; // biome-ignore format: one shape a row

const minutesOf = (tick: number): string => (tick === 0 ? 'now' : `${tick < 0 ? '−' : '+'}${Math.abs(tick)} min`);

const mostLabels = 4;

/** So many that they do not touch; the last one always. */
const labelled = (ticks: readonly number[]): readonly number[] => {
  const every = Math.ceil(ticks.length / mostLabels);
  return ticks.filter((_, at) => (ticks.length - 1 - at) % every === 0);
};

export const GanttAxis = ({ stretch }: { stretch: Stretch }) => {
  const x = scaleLinear(stretch, [0, 99]);
  const place = (at: number): string => (at < 6 ? 'start' : at > 94 ? 'end' : 'middle');
  return (
    <svg class="gantt" width="100%" height="16" aria-hidden="true">
      {labelled(ticksOf(stretch)).map((tick) => <text key={tick} x={`${x(tick)}%`} y="12" text-anchor={place(x(tick))}>{minutesOf(tick)}</text>)}
    </svg>
  );
}; // biome-ignore format: one shape a row

const calmRacks = [0, 1, 2] as const;
const calmUnits = [0, 1, 2, 3, 4] as const;

/** Three racks with all lights on. */
export const CalmPicture = () => (
  <svg class="calm" viewBox="0 0 168 84" width="168" height="84" aria-hidden="true">
    <line class="ground" x1="4" x2="164" y1="80" y2="80" />
    {calmRacks.map((rack) => (
      <g key={rack}>
        <rect class="frame" x={18 + rack * 48} y="10" width="36" height="70" rx="4" />
        {calmUnits.map((unit) => (
          <g key={unit}>
            <rect class="bay" x={23 + rack * 48} y={16 + unit * 12} width="26" height="8" rx="2" />
            <circle class="light" cx={28 + rack * 48} cy={20 + unit * 12} r="1.8" />
          </g>
        ))}
      </g>
    ))}
  </svg>
);
