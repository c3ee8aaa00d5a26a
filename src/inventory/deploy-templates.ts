/** Queries of the deploy templates table. */
import { type DeployTemplate, templateTable } from '../model/resources/deploy-templates';
import type { Db } from './database';
import { resource } from './resources';

export const deployTemplates = (sql: Db) => ({
  ...resource<DeployTemplate>(sql, { name: 'deploy_templates', table: templateTable }),

  /** Ordered by name. */
  async named(traits: readonly string[]): Promise<DeployTemplate[]> {
    if (traits.length === 0) return [];
    return sql<DeployTemplate[]>`select * from deploy_templates where name in ${sql(traits)} order by name`;
  },
});
