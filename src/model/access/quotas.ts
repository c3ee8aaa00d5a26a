/** Limits per project, to protect shared resources from one tenant. */

type QuotaRow = {
  readonly setting: string;
  readonly counts: string;
  readonly initially: number;
  /** The caller's remedy, if different from ending or deleting some. */
  readonly instead?: string;
};

export const quotaTable = {
  runs: { setting: 'TEMPER_QUOTA_RUNS', counts: 'open runs', initially: 10_000 },
  streams: { setting: 'TEMPER_QUOTA_STREAMS', counts: 'open event streams', initially: 100 },
  allocations: { setting: 'TEMPER_QUOTA_ALLOCATIONS', counts: 'allocations', initially: 10_000 },
  runbooks: { setting: 'TEMPER_QUOTA_RUNBOOKS', counts: 'runbooks', initially: 1_000 },
  rollouts: {
    setting: 'TEMPER_QUOTA_ROLLOUTS',
    counts: 'rollouts that are scheduled or have not ended',
    initially: 100,
  },
  rollout_plans: {
    setting: 'TEMPER_QUOTA_ROLLOUT_PLANS',
    counts: 'plans of rollouts that were not begun',
    initially: 1_000,
  },
  // Enough for 200,000 changes of a 5 KiB runbook, or 1,000 of the largest one in a request.
  runbook_revisions: {
    setting: 'TEMPER_QUOTA_RUNBOOK_REVISIONS',
    counts: 'MiB of revisions of runbooks',
    initially: 1_024,
    instead: 'Revisions are not deleted, so change runbooks less often',
  },
} as const satisfies Record<string, QuotaRow>;

export type Quota = keyof typeof quotaTable;

/** 0 means no limit. */
export type Quotas = Readonly<Record<Quota, number>>;

export const quotaFacts = (quota: Quota, project: string, limit: number) => ({
  quota,
  project,
  limit,
  counts: quotaTable[quota].counts,
  setting: quotaTable[quota].setting,
  remedy: (quotaTable[quota] as QuotaRow).instead ?? 'End or delete some',
});

export const defaultQuotas: Quotas = Object.fromEntries(
  Object.entries(quotaTable).map(([name, { initially }]) => [name, initially]),
) as Quotas;
