/** Finds the resource table of a path. */
import { allocationTable } from '../../model/resources/allocations';
import { chassisTable } from '../../model/resources/chassis';
import { conductorTable } from '../../model/resources/conductors';
import { templateTable } from '../../model/resources/deploy-templates';
import { driverTable } from '../../model/resources/driver-fields';
import type { ResourceTable } from '../../model/resources/fields';
import { historyTable } from '../../model/resources/history';
import { inspectionRuleTable } from '../../model/resources/inspection-rules';
import { biosTable, firmwareTable } from '../../model/resources/node-details';
import { nodeTable } from '../../model/resources/nodes';
import { portgroupTable } from '../../model/resources/portgroups';
import { portTable } from '../../model/resources/ports';
import { runbookTable } from '../../model/resources/runbooks';
import { connectorTable, targetTable } from '../../model/resources/volumes';

export const resourceTables: readonly ResourceTable[] = [
  nodeTable,
  portTable,
  portgroupTable,
  connectorTable,
  targetTable,
  chassisTable,
  runbookTable,
  allocationTable,
  driverTable,
  conductorTable,
  templateTable,
  inspectionRuleTable,
  historyTable,
  biosTable,
  firmwareTable,
];

/** A list, a list with all fields, or a single resource. */
export type ResourceSeen = { readonly table: ResourceTable; readonly as: 'list' | 'detail' | 'one' };

const isParameter = (segment: string | undefined): boolean => segment?.startsWith(':') === true;

const byCollection = new Map(resourceTables.map((table) => [table.collection, table]));
const byName = new Map(resourceTables.map((table) => [table.resource, table]));

/** Undefined if the path is no Ironic resource with a table. */
export const seenAt = (path: string): ResourceSeen | undefined => {
  const segments = path.split('/').filter(Boolean);
  if (segments[0] !== 'v1') return undefined;
  const whole = segments.at(-1) === 'detail';
  const [last, before] = whole ? [segments.at(-2), undefined] : [segments.at(-1), segments.at(-2)];
  if (isParameter(last)) {
    const table = byCollection.get(before ?? '');
    return table && { table, as: 'one' };
  }
  const listed = byCollection.get(last ?? '');
  if (listed) return { table: listed, as: whole ? 'detail' : 'list' };
  const one = byName.get(last ?? '');
  return one && { table: one, as: 'one' };
};

/** Component name in the document: `VolumeConnector`. */
export const componentName = ({ resource }: ResourceTable): string =>
  resource.replace(/(?:^|[ _])(\w)/g, (_, first: string) => first.toUpperCase());
