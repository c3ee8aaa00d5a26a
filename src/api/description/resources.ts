/** Which resource a path shows: found by the words of the path among the tables of all resources. */
import { allocationTable } from '../../model/allocations';
import { chassisTable } from '../../model/chassis';
import { conductorTable } from '../../model/conductors';
import { templateTable } from '../../model/deploy-templates';
import { driverTable } from '../../model/driver-fields';
import type { ResourceTable } from '../../model/fields';
import { historyTable } from '../../model/history';
import { inspectionRuleTable } from '../../model/inspection-rules';
import { biosTable, firmwareTable } from '../../model/node-details';
import { nodeTable } from '../../model/nodes';
import { portgroupTable } from '../../model/portgroups';
import { portTable } from '../../model/ports';
import { runbookTable } from '../../model/runbooks';
import { connectorTable, targetTable } from '../../model/volumes';

/** Every resource that has a table. */
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

/** A resource at a path: its list, its list with every field, or one of it. */
export type Seen = { readonly table: ResourceTable; readonly as: 'list' | 'detail' | 'one' };

const isParameter = (segment: string | undefined): boolean => segment?.startsWith(':') === true;

const byCollection = new Map(resourceTables.map((table) => [table.collection, table]));
const byName = new Map(resourceTables.map((table) => [table.resource, table]));

/** What a path of Ironic's shows, or undefined where it is no resource with a table. */
export const seenAt = (path: string): Seen | undefined => {
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

/** What a resource is called among the document's components: `VolumeConnector`. */
export const componentName = ({ resource }: ResourceTable): string =>
  resource.replace(/(?:^|[ _])(\w)/g, (_, first: string) => first.toUpperCase());
