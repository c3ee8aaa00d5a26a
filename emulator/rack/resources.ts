/** The tree of resources: every subject's rows, and the search for the row that answers a path. */

import { biosRows } from './bios';
import { chassisRows } from './chassis';
import { eventRows } from './events';
import { inventoryRows } from './inventory';
import { managerRows } from './managers';
import { mediaRows } from './media';
import type { Profile } from './profiles';
import { registryRows } from './registries';
import { rootRows } from './root';
import { secureBootRows } from './secure-boot';
import { sessionRows } from './sessions';
import { storageRows } from './storage';
import { systemRows } from './systems';
import { taskRows } from './tasks';
import type { Bmc, Row } from './types';
import { updateRows } from './update';
import { vendorJobRows } from './vendor-jobs';
import { volumeRows } from './volumes';

const rows: readonly Row[] = [
  ...rootRows,
  ...sessionRows,
  ...eventRows,
  ...systemRows,
  ...biosRows,
  ...secureBootRows,
  ...storageRows,
  ...volumeRows,
  ...inventoryRows,
  ...mediaRows,
  ...managerRows,
  ...chassisRows,
  ...taskRows,
  ...vendorJobRows,
  ...updateRows,
  ...registryRows,
];

type Compiled = { row: Row; parts: readonly string[] };

const byLength = new Map<number, Compiled[]>();
for (const row of rows) {
  const parts = row.path.split('/').filter(Boolean);
  byLength.set(parts.length, [...(byLength.get(parts.length) ?? []), { row, parts }]);
}

/** Parameters that can have one value only, because every BMC here has one of each. */
const fixed: Readonly<Record<string, (profile: Profile) => string>> = {
  ':system': (profile) => profile.systemId,
  ':manager': (profile) => profile.managerId,
  ':chassis': (profile) => profile.chassisId,
};

const match = (
  { profile }: Bmc,
  parts: readonly string[],
  given: readonly string[],
): Record<string, string> | undefined => {
  const params: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const value = given[index]!;
    if (!part.startsWith(':')) {
      if (part !== value) return undefined;
    } else if (part in fixed && fixed[part]!(profile) !== value) return undefined;
    else params[part.slice(1)] = value;
  }
  return params;
};

/** The row for a path (without prefix, a trailing slash is ignored) and its parameters. */
export const findRow = (bmc: Bmc, path: string): { row: Row; params: Record<string, string> } | undefined => {
  const given = path.split('/').filter(Boolean);
  for (const { row, parts } of byLength.get(given.length) ?? []) {
    if (row.when && !row.when(bmc.profile)) continue;
    const params = match(bmc, parts, given);
    if (params) return { row, params };
  }
  return undefined;
};

/** The methods a row offers, as the Allow header lists them. */
export const allowOf = (row: Row): string =>
  [(row.get || row.read) && 'GET, HEAD', row.patch && 'PATCH', row.post && 'POST', row.delete && 'DELETE']
    .filter(Boolean)
    .join(', ');
