/** Facts of a node beside its tabs: lock, lease, visits of rollouts, windows and disruption budgets that apply. */
import { propertyOf } from '../../model/rollouts/disruption';
import { whyNotBegun } from '../../model/rollouts/rollout-acts';
import { endedRollouts, type TargetState } from '../../model/rollouts/states';
import type { DisruptionBudget, ProjectWindow } from '../../wire/records';
import type { Rollout, RolloutTarget } from '../../wire/rollouts';
import { hidden } from '../hidden';
import { Facts, Id, Lasting, Project, State, Time } from '../parts/texts';
import { TitledSection } from '../parts/titled-section';
import type { Api } from '../server/api';
import type { NodeView } from '../views';
import { targetAddress } from './rollout-nodes';
import { rolloutTitle } from './rollouts';

/** Shows hidden values as such, because an empty cell would mean that there is no value. */
const hiddenValue = <span class="muted">Hidden</span>;

const Locked = ({ node: { reservation } }: { node: NodeView }) =>
  typeof reservation === 'string' ? <Id id={reservation} href={`/runs/${reservation}`} /> : hiddenValue;

export const propertyText = ({ properties }: NodeView, key: string): string | undefined => {
  const value = properties?.[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
};

const matches = (node: NodeView, key: string, values: readonly string[]): boolean => {
  if (key === 'traits') return values.every((trait) => node.traits?.includes(trait));
  const property = propertyOf(key);
  const value = property ? node.properties?.[property] : (node as Readonly<Record<string, unknown>>)[key];
  return values.includes(String(value ?? ''));
};

const isTenant = ({ owner, lessee }: NodeView, project: string): boolean => project === owner || project === lessee;

const applies = ({ project, query }: DisruptionBudget, node: NodeView): boolean =>
  isTenant(node, project) && Object.entries(query).every(([key, values]) => matches(node, key, values));

type Visit = { readonly rollout: Rollout; readonly target: RolloutTarget };

const over: readonly TargetState[] = ['done', 'skipped', 'aborted', 'refused'];
const [rolloutsRead, mostVisits] = [50, 5];

/** Of the newest open rollouts that have the node. */
const visitsOf = async (api: Api, node: NodeView): Promise<readonly Visit[]> => {
  const rollouts = (await api.findList<Rollout>('/temper/v1/rollouts', { limit: rolloutsRead })) ?? [];
  const open = rollouts.filter(({ state }) => !endedRollouts.includes(state)).slice(0, mostVisits);
  const found = await Promise.all(
    open.map(async (rollout): Promise<Visit[]> => {
      const path = `/temper/v1/rollouts/${rollout.uuid}/targets`;
      const targets = (await api.findList<RolloutTarget>(path, { node: node.uuid, limit: 1 })) ?? [];
      return targets.map((target) => ({ rollout, target }));
    }),
  );
  return found.flat().filter(({ target }) => !over.includes(target.state));
};

export const sideData = async (api: Api, node: NodeView) => {
  const [visits, windows = [], found] = await Promise.all([
    visitsOf(api, node),
    api.findList<ProjectWindow>('/temper/v1/windows'),
    api.find<{ readonly disruption_budgets: readonly DisruptionBudget[] }>('/temper/v1/disruption-budgets'),
  ]);
  return {
    visits,
    windows: windows.filter(({ project }) => isTenant(node, project)),
    budgets: (found?.disruption_budgets ?? []).filter((budget) => applies(budget, node)),
  };
};

const NodeFacts = ({ node }: { node: NodeView }) => (
  <Facts
    rows={[
      ['ID', <Id id={node.uuid} />],
      ['Power', <State is={node.power_state ?? 'unknown'} />],
      ['Target state', node.target_provision_state],
      ['Locked by run', node.reservation && <Locked node={node} />],
      ['Last error', node.last_error === hidden && hiddenValue],
      ['In this state', node.provision_updated_at && <Lasting since={node.provision_updated_at} />],
      ['Class', node.resource_class],
      ['Driver', node.driver],
      ['Conductor group', node.conductor_group],
      ['Traits', node.traits?.join(', ')],
      ['Protected', node.protected ? 'yes' : null],
      ['Retired', node.retired ? 'yes' : null],
      ['Description', node.description],
    ]}
  />
);

const Lease = ({ node }: { node: NodeView }) => (
  <Facts
    rows={[
      ['Owner', node.owner && <Project id={node.owner} />],
      ['Lessee', node.lessee && <Project id={node.lessee} />],
      ['Allocation', node.allocation_uuid && <Id id={node.allocation_uuid} href="/allocations" />],
      ['Instance', node.instance_name],
    ]}
  />
);

const Windows = ({ windows }: { windows: readonly ProjectWindow[] }) => (
  <ul class="plain">
    {windows.map(({ uuid, name, open, opens_at, closes_at }) => (
      <li key={uuid}>
        <b>{name}</b>{' '}
        {open ? <>open, closes <Time at={closes_at} /></> : <>opens <Time at={opens_at} /></>}
      </li>
    ))}
  </ul>
); // biome-ignore format: short parts

const Visits = ({ visits }: { visits: readonly Visit[] }) => (
  <ul class="plain">
    {visits.map(({ rollout, target }) => (
      <li key={rollout.uuid}>
        <a href={targetAddress(rollout, target)}>{rolloutTitle(rollout)}</a> <State is={target.state} />
        <p class="muted">
          {whyNotBegun(rollout, target, Date.now()) ?? target.reason}
          {target.not_before && <> Not before <Time at={target.not_before} />.</>}
        </p>
      </li>
    ))}
  </ul>
); // biome-ignore format: short parts

const limitOf = ({ max_unavailable: most, min_available: least }: DisruptionBudget): string =>
  most === null ? `at least ${least} available` : `at most ${most} unavailable`;

const Budgets = ({ budgets }: { budgets: readonly DisruptionBudget[] }) => (
  <ul class="plain">
    {budgets.map((budget) => (
      <li key={budget.uuid}>
        <b>{limitOf(budget)}</b> of {budget.nodes} nodes; {budget.unavailable} unavailable now, {budget.may_be_taken}{' '}
        more allowed
      </li>
    ))}
  </ul>
);

type SideProps = { readonly node: NodeView } & Awaited<ReturnType<typeof sideData>>;

export const NodeSide = ({ node, visits, windows, budgets }: SideProps) => (
  <aside aria-label="Facts">
    <TitledSection title="Facts">
      <NodeFacts node={node} />
    </TitledSection>
    {(node.owner || node.lessee) && (
      <TitledSection title="Projects">
        <Lease node={node} />
      </TitledSection>
    )}
    {visits.length > 0 && (
      <TitledSection title="Rollouts that visit this node">
        <Visits visits={visits} />
      </TitledSection>
    )}
    {windows.length > 0 && (
      <TitledSection title="Maintenance windows">
        <Windows windows={windows} />
      </TitledSection>
    )}
    {budgets.length > 0 && (
      <TitledSection title="Disruption budgets">
        <Budgets budgets={budgets} />
      </TitledSection>
    )}
  </aside>
);
