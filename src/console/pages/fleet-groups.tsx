/** Overview: nodes by rack, feed, class or owner. A few racks show every node; many are a heat map. */
import type { ComponentChildren } from 'preact';
import type { Summary, SummaryBy } from '../../wire/installation';
import { groupedBy } from '../parts/groups';
import { Empty, nodeAddress, type Tone, toneShapes } from '../parts/texts';
import { addressWith, type PageQuery } from '../server/api';
import type { PageContext } from '../server/context';
import type { Remembered } from '../server/remembered';
import type { NodeView } from '../views';
import { failingIn, isUsed, type NodeCounts, stateOfNode, usedIn } from './node-standing';
import { shortest } from './search';

type Group = SummaryBy['groups'][number];

type ByRow = {
  readonly label: string;
  /** The API's name. */
  readonly by: string;
  /** Its name before a value. */
  readonly of: string;
  readonly none: string;
  /** Address of the list of its nodes, if there is one. */
  readonly listOf?: (value: string) => string | undefined;
};

const nodesWith = (name: string) => (value: string) => addressWith('/nodes', { [name]: value });

const divisions = {
  rack: { label: 'Racks', by: 'properties.rack', of: 'rack', none: 'No rack', listOf: (value) => (value.length < shortest ? undefined : addressWith('/search', { q: value })) },
  feed: { label: 'Feeds', by: 'properties.power_feed', of: 'feed', none: 'No power feed' },
  class: { label: 'Classes', by: 'resource_class', of: 'class', none: 'No class', listOf: nodesWith('resource_class') },
  owner: { label: 'Owners', by: 'owner', of: 'owner', none: 'No owner', listOf: nodesWith('owner') },
} as const satisfies Readonly<Record<string, ByRow>>; // biome-ignore format: one table

type Division = keyof typeof divisions;
const isDivision = (text: string | undefined): text is Division => text !== undefined && Object.hasOwn(divisions, text);
const divisionRow = (division: Division): ByRow => divisions[division];

/** More would be a list and no picture. */
export const mostUnits = 480;
const mostRacks = 10;
const mostInList = 60;
const mostCells = 120;

const unitFields = 'uuid,name,provision_state,maintenance,fault,properties';

export type Unit = NodeView & { readonly properties?: Readonly<Record<string, unknown>> | null };

/** All nodes of a small fleet, by which nothing has to be counted. */
const unitsOf = async ({ api }: PageContext, summary: Summary): Promise<readonly Unit[] | undefined> =>
  summary.nodes.count > 0 && summary.nodes.count <= mostUnits
    ? api.findList<Unit>('/v1/nodes', { fields: unitFields, sort_key: 'name', limit: mostUnits })
    : undefined;

export type Fleet = {
  readonly division: Division;
  readonly groups: readonly Group[];
  readonly more: boolean;
  /** The groups are those of one page of several. */
  readonly isPart: boolean;
  readonly units: readonly Unit[] | undefined;
};

/** Counts of the API, and the nodes themselves where they are few. @param after last group of the page before */
export const fleetOf = async (
  context: PageContext,
  counts: Remembered,
  summary: Promise<Summary>,
  query: PageQuery,
): Promise<Fleet> => {
  const division = isDivision(query.by) ? query.by : 'rack';
  const [found, units] = await Promise.all([
    counts.find<SummaryBy>('/temper/v1/summary', { by: divisionRow(division).by, limit: `${mostCells}`, marker: query.after }),
    summary.then((counted) => (division === 'rack' ? unitsOf(context, counted) : undefined)),
  ]); // biome-ignore format: one question a row
  const more = found?.next !== undefined;
  return { division, groups: found?.groups ?? [], more, isPart: more || query.after !== undefined, units };
};

const Legend = () => (
  <span class="muted line legend" aria-hidden="true">
    {(['good', 'idle', 'busy', 'wait', 'bad'] as const).map((tone, at) => (
      <span key={tone} class={tone}>
        {toneShapes[tone]} {['in use', 'not in use', 'busy', 'on hold or in maintenance', 'failing'][at]}
      </span>
    ))}
  </span>
);

const numberOf = new Intl.Collator('en', { numeric: true }).compare;

const rackUnit = ({ properties }: Unit): number => {
  const unit = Number(properties?.unit ?? properties?.rack_unit ?? Number.NaN);
  return Number.isFinite(unit) ? unit : -1;
};

/** As they hang: the highest unit on top. Without units, by name. */
const inPlace = (one: Unit, other: Unit): number =>
  rackUnit(other) - rackUnit(one) || numberOf(one.name ?? one.uuid, other.name ?? other.uuid);

const UnitRow = ({ unit }: { unit: Unit }) => {
  const { tone, word } = stateOfNode(unit);
  const name = unit.name ?? unit.uuid.slice(0, 8);
  return (
    <li data-key={unit.uuid} data-says={`${name}: ${word}`}>
      <a class={`unit ${tone}`} href={nodeAddress(unit)}>
        <span aria-hidden="true">{toneShapes[tone]}</span> <b>{name}</b> <span>{word}</span>
      </a>
    </li>
  );
};

const rackOf = ({ properties }: Unit): string | undefined => {
  const rack = properties?.rack;
  return typeof rack === 'string' || typeof rack === 'number' ? String(rack).slice(0, 64) : undefined;
};

/** One column for each rack, and one for nodes without a rack. */
const Elevations = ({ units }: { units: readonly Unit[] }) => (
  <div class="racks">
    {groupedBy(units, (unit) => rackOf(unit) ?? '')
      .toSorted(([one], [other]) => Number(!rackOf(one!)) - Number(!rackOf(other!)) || numberOf(rackOf(one!) ?? '', rackOf(other!) ?? ''))
      .map((rack) => {
        const name = rackOf(rack[0]!);
        const used = rack.filter(isUsed).length;
        return (
          <section key={name ?? ''} class="rack" aria-label={name === undefined ? 'Nodes without a rack' : `Rack ${name}`}>
            <h3>
              {name ?? 'No rack'} <span class="muted">{used}/{rack.length} in use</span>
            </h3>
            <ol class="units">{rack.toSorted(inPlace).map((unit) => <UnitRow key={unit.uuid} unit={unit} />)}</ol>
          </section>
        );
      })}
  </div>
); // biome-ignore format: short parts

/** Failing parts of a group, the warmest first. */
const warmths = [0.5, 0.25, 0.1, 0] as const;

const warmthOf = (failing: number, count: number): number =>
  failing === 0 ? 0 : warmths.length - warmths.findIndex((least) => failing / count >= least);

const cellSays = (counts: NodeCounts): { tone: Tone; says: string } => {
  const failing = failingIn(counts);
  if (failing > 0) return { tone: 'bad', says: `${failing} of ${counts.count} failing` };
  if (counts.maintenance > 0) return { tone: 'wait', says: `${counts.maintenance} of ${counts.count} in maintenance` };
  const used = usedIn(counts);
  if (used > 0) return { tone: 'good', says: `${used} of ${counts.count} in use` };
  return { tone: 'idle', says: `${counts.provision_state.available ?? 0} of ${counts.count} free` };
}; // biome-ignore format: short lines

const Cell = ({ group, division }: { group: Group; division: Division }) => {
  const { of, none, listOf } = divisionRow(division);
  const { tone, says } = cellSays(group);
  const name = group.value ?? none;
  const href = group.value === null ? undefined : listOf?.(group.value);
  const inner = (
    <>
      <b title={group.value ?? undefined}>{name}</b>
      <span>
        <span class={tone} aria-hidden="true">
          {toneShapes[tone]}
        </span>{' '}
        {says}
      </span>
    </>
  );
  const style = `heat warm-${warmthOf(failingIn(group), group.count)}`;
  return (
    <li data-key={`${of}-${name}`} data-says={`${name}: ${says}`}>
      {href ? (
        <a class={style} href={href}>
          {inner}
        </a>
      ) : (
        <div class={style}>{inner}</div>
      )}
    </li>
  );
};

const Cells = ({ fleet: { groups, division } }: { fleet: Fleet }) => (
  <ul class="cells">
    {groups.map((group) => (
      <Cell key={group.value ?? ''} group={group} division={division} />
    ))}
  </ul>
);

/** A few nodes without a rack. */
const Plain = ({ units }: { units: readonly Unit[] }) => (
  <ol class="units plain">
    {units.toSorted(inPlace).map((unit) => (
      <UnitRow key={unit.uuid} unit={unit} />
    ))}
  </ol>
);

const pictureOf = (fleet: Fleet): ComponentChildren => {
  const { groups, isPart, units } = fleet;
  const racks = groups.filter(({ value }) => value !== null).length;
  if (units && racks > 0 && racks <= mostRacks && !isPart) return <Elevations units={units} />;
  if (units && racks === 0 && units.length <= mostInList && !isPart) return <Plain units={units} />;
  if (groups.length === 0) return <Empty icon="server" title="No nodes match." />;
  return <Cells fleet={fleet} />;
};

type Props = { readonly fleet: Fleet; readonly query: PageQuery };

export const FleetGroups = ({ fleet, query }: Props) => (
  <section class="card" aria-labelledby="fleet">
    <header>
      <h2 id="fleet">{divisionRow(fleet.division).label}</h2>
      <Legend />
      <nav class="pills" aria-label="Group by">
        {(Object.keys(divisions) as Division[]).map((one) => (
          <a key={one} href={addressWith('/', one === 'rack' ? {} : { by: one })} aria-current={one === fleet.division ? 'true' : undefined}>
            {divisionRow(one).label}
          </a>
        ))}
      </nav>
    </header>
    {pictureOf(fleet)}
    {(fleet.more || query.after !== undefined) && (
      <nav class="pager" aria-label="Pages of groups">
        {query.after !== undefined && <a class="button" href={addressWith('/', { by: query.by })}>First page</a>}
        {fleet.more && <a class="button" href={addressWith('/', { by: query.by, after: fleet.groups.at(-1)?.value ?? undefined })}>More {divisionRow(fleet.division).label.toLowerCase()}</a>}
      </nav>
    )}
  </section>
); // biome-ignore format: short parts
