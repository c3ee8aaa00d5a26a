/** The part `plans`: a fleet in a database of its own, and how the store finds what the API asks for in it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../src/inventory/database';
import type { System } from '../system';
import { allAsked } from './asked';
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

const migrate = async (url: string, root: string): Promise<void> => {
  const sql = connect(url, { max: 1 });
  const folder = join(root, 'src', 'inventory', 'migrations');
  await sql`create table migrations (name text primary key, applied_at timestamptz not null default now())`;
  for (const name of readdirSync(folder).sort()) await sql.unsafe(readFileSync(join(folder, name), 'utf8'));
  // As the role of the API plans; here everything is done as the owner.
  await sql.unsafe(`alter database ${database} set random_page_cost = 1.1`);
  await sql.end();
};

/** @param document where the plans are written; nowhere when absent */
export const measurePlans = async (
  { sql: admin, postgresUrl }: System,
  { nodes, root, document }: { readonly nodes: number; readonly root: string; readonly document?: string },
  say: (line: string) => void,
): Promise<Plans> => {
  const url = Object.assign(new URL(postgresUrl), { pathname: `/${database}` }).href;
  await admin.unsafe(`create database ${database}`);
  try {
    await migrate(url, root);
    const sql = connect(url, { max: 1 });
    say(`${nodes} nodes for looking at plans`);
    await seed(sql, nodes);
    const requests = allAsked(nodes);
    const looked = await lookAtPlans(sql, url, requests);
    await sql.end({ timeout: 5 });
    if (document !== undefined) writeFileSync(join(root, document), renderPlans(looked, nodes));
    return { nodes, requests: requests.length, statements: looked.length, faults: allFaults(looked) };
  } finally {
    await admin.unsafe(`drop database ${database} with (force)`);
  }
};

export const plansTables = ({ nodes, requests, statements, faults }: Plans): string[] => [
  `Plans among ${nodes.toLocaleString('en')} nodes: ${statements} statements of ${requests} requests, ${faults.length} that read too much`,
  ...faults.map((fault) => `  ${fault}`),
];
