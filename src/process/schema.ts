/** Checks that the database has this release's migrations. During an upgrade the new files may arrive first. */
import type { Inventory } from '../inventory';

/** @returns rejects with the missing migrations until there are none; after that it runs no query */
export const schemaCheck = ({ missingMigrations }: Pick<Inventory, 'missingMigrations'>): (() => Promise<void>) => {
  let whole = false;
  return async () => {
    if (whole) return;
    const missing = await missingMigrations();
    if (missing.length > 0) throw new Error(`the database lacks ${missing.join(', ')}: run migrate of this release`);
    whole = true;
  };
};
