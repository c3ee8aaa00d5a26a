/** Whether the database has had the migrations of this release: files of a new one may be there before, and a host starts anew. */
import type { Inventory } from '../inventory';

/** @returns what rejects, with the migrations that are missing, until there are none; it is not asked again after that */
export const schemaCheck = ({ missingMigrations }: Pick<Inventory, 'missingMigrations'>): (() => Promise<void>) => {
  let whole = false;
  return async () => {
    if (whole) return;
    const missing = await missingMigrations();
    if (missing.length > 0) throw new Error(`the database lacks ${missing.join(', ')}: run migrate of this release`);
    whole = true;
  };
};
