/** Nodes of a rollout: one cell each by domain or wave, and a table. */
import { whyNotBegun } from '../../model/rollouts/rollout-acts';
import { targetStates } from '../../model/rollouts/states';
import type { Rollout, RolloutTarget } from '../../wire/rollouts';
import { groupedBy } from '../parts/groups';
import type { Filter } from '../parts/list';
import { Pager, pageOf, Table } from '../parts/tables';
import { Id, NodeLink, State, spanOf, toneOf, toneShapes } from '../parts/texts';
import type { PageQuery } from '../server/api';
import { rolloutAddress } from './rollouts';

/** A target is identified only by its position in the plan. */
export const targetAddress = (rollout: Rollout, { position }: RolloutTarget): string =>
  `${rolloutAddress(rollout)}/targets/${position}`;

/** A failed target whose retry was requested keeps its state until its work begins. */
export const targetWord = ({ state, retry_requested_at }: RolloutTarget): string =>
  retry_requested_at ? 'retry requested' : state;

export const targetFilters: readonly Filter[] = [
  { name: 'state', label: 'State', options: targetStates },
  { name: 'wave', label: 'Wave' },
  { name: 'by', label: 'Cells by', hint: 'wave or properties.rack' },
];

/** By the bound in the address, else the first of the plan, else by wave. */
const groupsOf = (
  targets: readonly RolloutTarget[],
  asked: string | undefined,
): (readonly [name: string, targets: readonly RolloutTarget[]])[] => {
  const by = asked ?? Object.keys(targets.find(({ domains }) => domains)?.domains ?? {})[0] ?? 'wave';
  const nameOf = ({ wave, domains }: RolloutTarget): string =>
    by !== 'wave' ? `${by} ${domains?.[by] || 'unknown'}` : wave ? `wave ${wave}` : 'not in a wave';
  return groupedBy(targets, nameOf).map((group) => [nameOf(group[0]!), group]);
};

type TargetsProps = { readonly rollout: Rollout; readonly rows: readonly RolloutTarget[]; readonly query: PageQuery };

/** Cells show the number at the end of the name of a node. */
const numberIn = (name: string | null): string => /\d{1,4}$/.exec(name ?? '')?.[0] ?? '';

const Cell = ({ rollout, target }: { rollout: Rollout; target: RolloutTarget }) => {
  const text = `${target.node_name ?? target.node_uuid}: ${targetWord(target)}`;
  const tone = toneOf(target.state);
  const number = numberIn(target.node_name);
  return (
    <a href={targetAddress(rollout, target)} class={`cell ${tone}`} title={text}>
      <span aria-hidden="true">
        {toneShapes[tone]}
        {number && <small>{number}</small>}
      </span>
      <span class="hidden">{text}</span>
    </a>
  );
};

/** One cell per node, one row per domain. */
export const Grid = ({ rollout, rows, query }: TargetsProps) => (
  <dl class="grid">
    {groupsOf(rows, query.by).map(([name, targets]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          {targets.map((target) => (
            <Cell key={target.position} rollout={rollout} target={target} />
          ))}
        </dd>
      </div>
    ))}
  </dl>
);

/** `31 s of 48 s` while it works. */
export const tookText = ({ state, admitted_at, ended_at, expected_ms }: RolloutTarget): string | undefined => {
  if (!admitted_at) return undefined;
  if (ended_at) return spanOf(Date.parse(ended_at) - Date.parse(admitted_at));
  const usual = expected_ms ? ` of ${spanOf(expected_ms)}` : '';
  return state === 'admitted' ? `${spanOf(Date.now() - Date.parse(admitted_at))}${usual}` : undefined;
};

export const Targets = ({ rollout, rows, query }: TargetsProps) => {
  const { shown, next } = pageOf(rows, ({ position }) => String(position));
  return (
    <>
      <Table
        caption="Nodes of the rollout"
        rows={shown}
        columns={[
          { title: 'Node', of: (one) => <NodeLink uuid={one.node_uuid} name={one.node_name} to={targetAddress(rollout, one)} /> },
          { title: 'State', of: (one) => <State is={targetWord(one)} tone={one.retry_requested_at ? 'wait' : undefined} /> },
          { title: 'Wave', of: ({ wave }) => wave },
          { title: 'Took', of: tookText },
          { title: 'Code', of: ({ code }) => code },
          { title: 'Why', long: true, of: (one) => whyNotBegun(rollout, one, Date.now()) ?? one.reason },
          { title: 'Run', of: ({ run }) => run && <Id id={run} href={`/runs/${run}`} /> },
        ]}
        newsOf={(one) => ({ key: `${one.position}`, says: `${one.node_name ?? one.node_uuid}: ${targetWord(one)}` })}
        empty="No nodes match."
      />
      <Pager path={rolloutAddress(rollout)} query={query} next={next} />
    </>
  );
}; // biome-ignore format: short rows
