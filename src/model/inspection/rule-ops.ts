/** Operations of inspection rules: arguments of conditions and actions, and their order in a list. */
import { fieldOf } from '../resources/fields';
import { nodeTable } from '../resources/nodes';
import { portTable } from '../resources/ports';

export type RuleDoc = Readonly<Record<string, unknown>>;

export type RuleStep = {
  readonly op: string;
  readonly args?: RuleDoc | readonly unknown[];
  readonly loop?: unknown;
  readonly multiple?: 'any' | 'all' | 'first' | 'last';
};

type OpRow = {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  /** A list of arguments becomes this one argument. */
  readonly spread?: string;
};

const compared: OpRow = { required: ['values'], optional: ['force_strings'], spread: 'values' };
const oneValue: OpRow = { required: ['value'] };
const pattern: OpRow = { required: ['value', 'regex'] };

// Names and order of arguments: openstack/ironic:ironic/common/inspection_rules/operators.py, actions.py.
export const conditionArgs = {
  eq: compared,
  lt: compared,
  gt: compared,
  'is-empty': oneValue,
  'in-net': { required: ['address', 'subnet'] },
  matches: pattern,
  contains: pattern,
  'one-of': { required: ['value', 'values'] },
  'is-none': oneValue,
  'is-true': oneValue,
  'is-false': oneValue,
} as const satisfies Record<string, OpRow>;
export type ConditionOp = keyof typeof conditionArgs;

export const actionArgs = {
  fail: { required: [], optional: ['msg'] },
  log: { required: ['msg'], optional: ['level'] },
  'set-attribute': { required: ['path', 'value'] },
  'extend-attribute': { required: ['path', 'value'], optional: ['unique'] },
  'del-attribute': { required: ['path'] },
  'set-capability': { required: ['name', 'value'] },
  'unset-capability': { required: ['name'] },
  'add-trait': { required: ['name'] },
  'remove-trait': { required: ['name'] },
  'set-plugin-data': { required: ['path', 'value'] },
  'extend-plugin-data': { required: ['path', 'value'], optional: ['unique'] },
  'unset-plugin-data': { required: ['path'] },
  'set-port-attribute': { required: ['port_id', 'path', 'value'] },
  'extend-port-attribute': { required: ['port_id', 'path', 'value'], optional: ['unique'] },
  'del-port-attribute': { required: ['port_id', 'path'] },
} as const satisfies Record<string, OpRow>;
export type ActionOp = keyof typeof actionArgs;

export const actionsNotOffered: Readonly<Record<string, string>> = {
  'api-call': 'workers connect to BMCs and ramdisks only; let a webhook report inspections',
};

/** Other attributes decide permissions, or the machine that Temper connects to. */
export const settable = {
  node: {
    table: nodeTable,
    names: ['properties', 'extra', 'description', 'resource_class', 'automated_clean', 'shard'],
  },
  port: {
    table: portTable,
    names: ['extra', 'local_link_connection', 'physical_network', 'pxe_enabled', 'description', 'vendor', 'category'],
  },
} as const;
export type Settable = keyof typeof settable;

export const changedBy: Readonly<Partial<Record<ActionOp, Settable>>> = {
  'set-attribute': 'node',
  'extend-attribute': 'node',
  'del-attribute': 'node',
  'set-port-attribute': 'port',
  'extend-port-attribute': 'port',
  'del-port-attribute': 'port',
};

const unsafe = ['__proto__', 'prototype', 'constructor'];

/** Separated by slashes or else by dots. */
export const pathParts = (path: unknown): string[] => {
  const text = String(path);
  return (text.includes('/') ? text.split('/') : text.split('.')).filter((part) => part !== '');
};

export const pathFault = (of: Settable, path: unknown): string | undefined => {
  const [first, ...rest] = pathParts(path);
  const { table, names } = settable[of];
  if (first === undefined || !(names as readonly string[]).includes(first))
    return `a rule cannot set ${first ?? 'nothing'} of a ${of}; it can set ${names.join(', ')}`;
  if (rest.length > 0 && fieldOf(table, first)!.type !== 'object') return `${first} has no parts`;
  return rest.some((part) => unsafe.includes(part)) ? 'it holds a part that no document may have' : undefined;
};

const rowOf = (op: string): OpRow | undefined => {
  const rows: Readonly<Record<string, OpRow>> = { ...conditionArgs, ...actionArgs };
  return Object.hasOwn(rows, op) ? rows[op] : undefined;
};

export const plainOp = (op: string): string => op.replace(/^!/, '');

export const namedArgs = ({ op, args = {} }: RuleStep): RuleDoc => {
  if (!Array.isArray(args)) return args as RuleDoc;
  const { required, optional = [], spread } = rowOf(plainOp(op))!;
  if (spread !== undefined && !Array.isArray(args[0])) return { [spread]: args };
  return Object.fromEntries([...required, ...optional].slice(0, args.length).map((name, at) => [name, args[at]]));
};

const isTemplate = (value: unknown): boolean => typeof value === 'string' && value.includes('{');

/** Existing rules set it, so such a rule fails only when it runs. */
const refusedLate = ['driver'];

/** Paths that are checked only when the rule runs. */
const isLate = (path: unknown): boolean => isTemplate(path) || refusedLate.includes(pathParts(path)[0] ?? '');

export const stepFault = (step: RuleStep): string | undefined => {
  const op = plainOp(step.op);
  if (Object.hasOwn(actionsNotOffered, op)) return `${op} is not offered: ${actionsNotOffered[op]}`;
  const { required, optional = [] } = rowOf(op)!;
  const given = namedArgs(step);
  const missing = required.filter((name) => given[name] === undefined);
  if (missing.length > 0) return `${op} lacks ${missing.join(', ')}`;
  const unknown = Object.keys(given).filter((name) => ![...required, ...optional].includes(name));
  if (unknown.length > 0) return `${op} does not take ${unknown.join(', ')}`;
  const of = changedBy[op as ActionOp];
  return of === undefined || isLate(given.path) ? undefined : pathFault(of, given.path);
};
