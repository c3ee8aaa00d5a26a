/** Checks the migrations of this release: its files may be installed before they are applied. */
import type { Inventory } from '../inventory';

/** @returns rejects with the missing migrations; after the first success it runs no query */
export const schemaCheck = ({ missingMigrations }: Pick<Inventory, 'missingMigrations'>): (() => Promise<void>) => {
  let whole = false;
  return async () => {
    if (whole) return;
    const missing = await missingMigrations();
    if (missing.length > 0) throw new Error(`the database lacks ${missing.join(', ')}: run migrate of this release`);
    whole = true;
  };
};
