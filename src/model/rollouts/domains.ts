/** Failure domains: common properties of nodes that can fail together. Tenants cannot write them. */
import type { Document } from '../document';
import { ownValue } from '../own';

export type SelectedNode = {
  readonly uuid: string;
  readonly name: string | null;
  readonly owner: string | null;
  readonly lessee: string | null;
  readonly lease_id: string | null;
  readonly conductor_group: string;
  readonly chassis_uuid: string | null;
  readonly shard: string | null;
  readonly resource_class: string | null;
  readonly parent_node: string | null;
  readonly properties: Document;
};

const domainColumns = [
  'owner',
  'lessee',
  'conductor_group',
  'chassis_uuid',
  'shard',
  'resource_class',
  'parent_node',
] as const satisfies readonly (keyof SelectedNode)[];

const propertyKey = /^properties\.[A-Za-z0-9_.-]{1,64}$/;

/** The reason why this cannot form domains. */
export const domainFault = (by: string): string | undefined => {
  if (by === 'extra' || by.startsWith('extra.'))
    return 'is written by tenants, who could move their nodes from one domain into another; use properties.<key>';
  if (by === 'model' || propertyKey.test(by) || domainColumns.some((name) => name === by)) return undefined;
  return `must be one of ${[...domainColumns, 'model'].join(', ')}, or properties.<key>`;
};

// Tenants write properties. A longer value would not fit into the index of counters and would make every plan with it impossible.
const longestDomain = 255;

/**
 * Cut to 255 characters: values that differ only beyond share a domain. Nodes without a value share the unnamed one, because they may
 * fail together.
 */
export const domainOf = (node: SelectedNode, by: string): string => {
  const column = domainColumns.find((name) => name === by);
  const value = column
    ? node[column]
    : ownValue(node.properties, by === 'model' ? 'model' : by.slice('properties.'.length));
  const text = value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, longestDomain);
};

/** In the given order. */
export const byDomain = <Node extends SelectedNode>(nodes: readonly Node[], by: string): Map<string, Node[]> => {
  const domains = new Map<string, Node[]>();
  for (const node of nodes) {
    const value = domainOf(node, by);
    const there = domains.get(value);
    if (there) there.push(node);
    else domains.set(value, [node]);
  }
  return domains;
};
