/** Queries of volume connectors and volume targets. */
import { connectorTable, targetTable, type VolumeConnector, type VolumeTarget } from '../../model/resources/volumes';
import type { Db } from '../database';
import { nodeResource } from './node-resources';

export const volumeConnectors = (sql: Db) =>
  nodeResource<VolumeConnector>(sql, { name: 'volume_connectors', table: connectorTable });

export const volumeTargets = (sql: Db) =>
  nodeResource<VolumeTarget>(sql, { name: 'volume_targets', table: targetTable });
