/** Routes of boot service records, with which system administrators register files by digest. */
import { z } from 'zod';
import type { Queries } from '../../../inventory';
import type { BootRecord } from '../../../inventory/boot-records';
import { ramdiskNamePattern } from '../../../model/boot/ramdisks';
import { raise } from '../../../model/errors';
import type { RecordSubject } from '../../../model/resources/event-kinds';
import { auditedWrite, type Change, recordChange } from '../../audit/record';
import type { ApiContext } from '../../context';
import { readPage, uuidPage } from '../../resource/own-pages';
import { created, noContent, ok, type Route, route } from '../../server/route';

const pageQuery = z.strictObject(uuidPage);

type NamedRecord = { readonly name: string };

/** Part of URLs and commands. */
export const recordName = z.string().regex(ramdiskNamePattern, {
  error: 'must begin with a letter or digit, and hold letters, digits, dots, dashes and underscores, 63 at most',
});
export const digest = z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 digest, 64 hexadecimal digits' });

type RecordKind<Values extends NamedRecord> = {
  /** As in rules, paths and audit rows. */
  readonly resource: RecordSubject;
  readonly rules: Readonly<Record<'get' | 'create' | 'delete', string>>;
  readonly body: z.ZodType<Values>;
  readonly shapes: { readonly one: z.ZodType; readonly list: z.ZodType };
  /** Throws if the values are not allowed. */
  check?(ctx: ApiContext, values: Values): void;
  store(inventory: Queries): {
    list(page: { limit: number; after?: string }): Promise<readonly BootRecord<Values>[]>;
    find(ident: string): Promise<BootRecord<Values> | undefined>;
    /** Undefined if the name is in use. */
    create(values: Values): Promise<BootRecord<Values> | undefined>;
    /** A node whose run needs the record. */
    user(uuid: string): Promise<string | undefined>;
    delete(uuid: string): Promise<boolean>;
  };
  /** Throws the record's NotFound. */
  missing(ident: string): never;
  /** Throws that a node's run needs the record. */
  inUse(ident: string, node: string): never;
  /** The audit row's values. */
  values(row: BootRecord<Values>): Readonly<Record<string, unknown>>;
};

/** The only path parameter, named after the resource. */
type Params = Readonly<Record<string, string>>;

const pathOf = ({ resource }: { readonly resource: string }): string => `/temper/v1/${resource}s`;
const paramsOf = ({ resource }: { readonly resource: string }) => ({
  path: `${pathOf({ resource })}/:${resource}`,
  params: z.object({ [resource]: z.string().max(255) }),
});

const viewOf = <Values>(row: BootRecord<Values>) => ({ ...row, created_at: row.created_at.toISOString() });

const found = async <Values extends NamedRecord>(
  { resource, store, missing }: RecordKind<Values>,
  ctx: ApiContext,
  params: Params,
): Promise<BootRecord<Values>> => {
  const ident = params[resource]!;
  return (await store(ctx.inventory).find(ident)) ?? missing(ident);
};

const readRoutes = <Values extends NamedRecord>(kind: RecordKind<Values>): Route[] => {
  const { resource, rules, shapes, store } = kind;
  return [
    route<unknown, z.output<typeof pageQuery>>({
      method: 'GET',
      path: pathOf(kind),
      answers: { 200: shapes.list },
      rules: [rules.get],
      query: pageQuery,
      async handler(request, ctx) {
        ctx.policy().require(rules.get, request.who);
        const records = store(ctx.inventory);
        const { marker } = request.query;
        const after = marker === undefined ? undefined : await records.find(marker);
        if (marker !== undefined && !after) raise('MarkerNotFound', { marker });
        const read = (limit: number) => records.list({ limit, after: after?.name });
        const { rows, next } = await readPage(request, pathOf(kind), read, ({ uuid }) => uuid);
        return ok({ [`${resource}s`]: rows.map(viewOf), ...next });
      },
    }),
    route<Params>({
      method: 'GET',
      ...paramsOf(kind),
      answers: { 200: shapes.one },
      rules: [rules.get],
      async handler({ who, params }, ctx) {
        ctx.policy().require(rules.get, who);
        return ok(viewOf(await found(kind, ctx, params)));
      },
    }),
  ];
};

const changeOf =
  <Values extends NamedRecord>({ resource, rules, values }: RecordKind<Values>, act: 'create' | 'delete') =>
  (row: BootRecord<Values>): Change =>
    recordChange({ resource, act, rule: rules[act], uuid: row.uuid, values: values(row) });

const createRoute = <Values extends NamedRecord>(kind: RecordKind<Values>): Route => {
  const { resource, rules, shapes, body, check, store } = kind;
  return route<unknown, unknown, Values>({
    method: 'POST',
    path: pathOf(kind),
    answers: { 201: shapes.one },
    rules: [rules.create],
    body,
    async handler(request, ctx) {
      ctx.policy().require(rules.create, request.who);
      check?.(ctx, request.body);
      const reason = `The name ${request.body.name} is that of another ${resource}; remove that one, or choose another name.`;
      const create = async (inventory: Queries) =>
        (await store(inventory).create(request.body)) ?? raise('Conflict', { reason });
      const row = await auditedWrite(ctx, request, create, changeOf(kind, 'create'));
      return created(viewOf(row), `${request.base}${pathOf(kind)}/${row.name}`);
    },
  });
};

const deleteRoute = <Values extends NamedRecord>(kind: RecordKind<Values>): Route => {
  const { resource, rules, store, missing, inUse } = kind;
  return route<Params>({
    method: 'DELETE',
    ...paramsOf(kind),
    rules: [rules.delete],
    async handler(request, ctx) {
      ctx.policy().require(rules.delete, request.who);
      const row = await found(kind, ctx, request.params);
      const ident = request.params[resource]!;
      const remove = async (inventory: Queries) => {
        const records = store(inventory);
        const node = await records.user(row.uuid);
        if (node !== undefined) inUse(ident, node);
        return (await records.delete(row.uuid)) ? row : missing(ident);
      };
      await auditedWrite(ctx, request, remove, changeOf(kind, 'delete'));
      return noContent();
    },
  });
};

export const bootRecordRoutes = <Values extends NamedRecord>(kind: RecordKind<Values>): Route[] => {
  const [list, show] = readRoutes(kind);
  return [list!, createRoute(kind), show!, deleteRoute(kind)];
};
