/** Queries of the ports table. */
import { type Port, portTable } from '../../model/resources/ports';
import type { Db } from '../database';
import { nodeResource } from './node-resources';

export const ports = (sql: Db) => nodeResource<Port>(sql, { name: 'ports', table: portTable });
