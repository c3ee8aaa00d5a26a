/** Queries of the inspection rules table. */
import { type InspectionRule, inspectionRuleTable } from '../model/resources/inspection-rules';
import type { Db } from './database';
import { resource } from './resources';

export const inspectionRules = (sql: Db) =>
  resource<InspectionRule>(sql, { name: 'inspection_rules', table: inspectionRuleTable });
