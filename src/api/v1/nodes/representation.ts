/** Wire form of nodes: links, states for older versions, and redaction. */
import type { Caller } from '../../../model/access/callers';
import { nodeTable, shownState, showsEveryState } from '../../../model/resources/nodes';
import { nodeTarget, type Policy } from '../../../policy';
import { type Extra, linksTo, projections, type Shown } from '../../resource/representation';

const below = (part: string): Extra => linksTo('nodes', part);

const state = (column: string): Extra =>
  Object.assign(((row, _shown, minor) => shownState(row[column] ?? null, minor)) satisfies Extra, {
    line: ({ minor }: { readonly minor: number }) =>
      showsEveryState(minor) ? [{ column, as: 'value', empty: 'null' } as const] : undefined,
  });

/** Hides the step of a former lease's run from a caller who sees the node only through its present lease. */
const ownStep = (column: string): Extra =>
  Object.assign(
    ((row, shown) =>
      row.foreign_run && shown.hides?.('baremetal:node:get', { ...row, lessee: null })
        ? {}
        : (row[column] ?? {})) satisfies Extra,
    {
      line: ({ everything }: { readonly everything: boolean }) =>
        everything ? [{ column, as: 'document', empty: '{}' } as const] : undefined,
    },
  );

const extras: Readonly<Record<string, Extra>> = {
  links: below(''),
  ports: below('/ports'),
  states: below('/states'),
  portgroups: below('/portgroups'),
  volume: below('/volume'),
  provision_state: state('provision_state'),
  target_provision_state: state('target_provision_state'),
  clean_step: ownStep('clean_step'),
  deploy_step: ownStep('deploy_step'),
  service_step: ownStep('service_step'),
};

const ofStep = ['owner', 'lessee', 'foreign_run'];

export const nodeProjections = projections(nodeTable, extras, ['uuid'], {
  clean_step: ofStep,
  deploy_step: ofStep,
  service_step: ofStep,
});

/** Context for one caller. The four sensitive fields are decided once per owner and lessee. */
export const shownTo = (policy: Policy, request: { readonly who: Caller; readonly base: string }): Shown => {
  const { who, base } = request;
  if (policy.allows('baremetal:node:get:filter_threshold', who)) return { base };
  const decided = new Map<string, boolean>();
  return {
    base,
    hides: (rule, row) => {
      const { owner, lessee } = row as { owner: string | null; lessee: string | null };
      const key = JSON.stringify([rule, owner, lessee]);
      const known = decided.get(key);
      if (known !== undefined) return known;
      const hidden = !policy.allows(rule, who, nodeTarget({ owner, lessee }));
      decided.set(key, hidden);
      return hidden;
    },
  };
};
