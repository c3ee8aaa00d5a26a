/** Looks at the plan of every statement that the API reads with. */
import type { Sql } from '../../src/inventory/database';
import type { Asked } from './asked';
import { faultsOf } from './expected';
import { type Plan, planForAny, planWith } from './explain';
import { type Found, statementsOf } from './statements';

export type Looked = Found & { readonly withValues: Plan; readonly forAny: Plan };

/** @param sql on the same database, with the settings of the API's role */
export const lookAtPlans = async (sql: Sql, databaseUrl: string, requests: readonly Asked[]): Promise<Looked[]> => {
  const looked: Looked[] = [];
  for (const found of await statementsOf(databaseUrl, requests))
    looked.push({ ...found, withValues: await planWith(sql, found), forAny: await planForAny(sql, found) });
  return looked;
};

export const allFaults = (looked: readonly Looked[]): string[] => looked.flatMap((one) => faultsOf(one.asked, one));
