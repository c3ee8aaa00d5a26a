/** The part `plans`: a fleet in a database of its own, and how the store finds what the API asks for in it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../src/inventory/database';
import type { System } from '../system';
import { allAsked } from './asked';
import { withDatabase } from './beside';
import { renderPlans } from './document';
import { allFaults, lookAtPlans } from './look';
import { seed } from './seed';

export type Plans = {
  readonly nodes: number;
  readonly requests: number;
  readonly statements: number;
  /** What reads a large table whole without being excused. */
  readonly faults: readonly string[];
};

const database = 'temper_plans';

/** @param document where the plans are written; nowhere when absent */
export const measurePlans = async (
  system: System,
  { nodes, root, document }: { readonly nodes: number; readonly root: string; readonly document?: string },
  say: (line: string) => void,
): Promise<Plans> =>
  withDatabase(system, { database, root }, async (url) => {
    const sql = connect(url, { max: 1 });
    say(`${nodes} nodes for looking at plans`);
    await seed(sql, nodes);
    const requests = allAsked(nodes);
    const looked = await lookAtPlans(sql, url, requests);
    await sql.end({ timeout: 5 });
    if (document !== undefined) writeFileSync(join(root, document), renderPlans(looked, nodes));
    return { nodes, requests: requests.length, statements: looked.length, faults: allFaults(looked) };
  });

export const plansTables = ({ nodes, requests, statements, faults }: Plans): string[] => [
  `Plans among ${nodes.toLocaleString('en')} nodes: ${statements} statements of ${requests} requests, ${faults.length} that read too much`,
  ...faults.map((fault) => `  ${fault}`),
];
