/** Routes of records: of the installation, which its administrators keep, or of a project, about its owned or leased nodes. */
import { z } from 'zod';
import type { Queries } from '../../../inventory';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import type { ProjectId } from '../../../model/ids';
import { always, type Predicate } from '../../../model/predicates';
import type { RecordSubject } from '../../../model/resources/event-kinds';
import type { Target } from '../../../policy';
import { pageOf, typed } from '../../../wire/parts';
import { type AuditedAct, auditedWrite, type Change, recordChange } from '../../audit/record';
import type { ApiContext } from '../../context';
import { markedRecord, readPage, uuidPageQuery } from '../../resource/own-pages';
import { type ApiRequest, created, noContent, ok, type Route, route } from '../../server/route';

type StoredRecord = { readonly uuid: string; readonly project?: ProjectId | null };
type Given = { readonly project?: string };
type Viewed = Pick<ApiRequest<unknown, unknown, unknown>, 'who' | 'base'>;

/** Runs in the transaction of its audit row. Undefined if the record is gone, or its name is in use. */
export type RecordWrite<Row> = (store: Queries) => Promise<Row | undefined>;

export type RecordKind<Row extends StoredRecord, View, Body extends object, Changes extends object> = {
  /** As in rules, paths, list keys and audit rows. */
  readonly resource: RecordSubject;
  /** Path parameter; default: the resource. */
  readonly param?: string;
  /** Schema of the path parameter. */
  readonly ident: z.ZodType<string>;
  /** Lists are ordered by it, and addresses of new records end in it; default: the UUID. */
  identOf?(row: Row): string;
  /** Set if records belong to a project. */
  readonly ofProject?: {
    /** True if a record without a project is the installation's. */
    readonly orInstallation?: true;
    target(row: { readonly project: ProjectId | null }): Target;
    count(store: Queries, project: ProjectId): Promise<number>;
  };
  readonly shape: z.ZodType<View>;
  /** Makes views of one answer. */
  viewer(ctx: ApiContext, request: Viewed): Promise<(row: Row) => NoInfer<View> | Promise<NoInfer<View>>>;
  /** Rules that a view asks. */
  readonly viewRules?: readonly string[];
  store(store: Queries): {
    list(page: { limit: number; after?: string; visible: Predicate }): Promise<readonly Row[]>;
    find(ident: string): Promise<Row | undefined>;
    delete(uuid: string): Promise<boolean>;
  };
  /** Throws the record's NotFound. */
  missing(ident: string): never;
  readonly body: z.ZodType<Body>;
  /** Throws if the values are not allowed. @param project undefined for a record of the installation */
  create(ctx: ApiContext, body: Body, project: ProjectId | undefined): Promise<RecordWrite<Row>>;
  /** The reason of the Conflict if `create` made none. */
  taken?(body: Body, project: ProjectId | undefined): string;
  readonly changes?: {
    readonly body: z.ZodType<Changes>;
    /** Throws if the values are not allowed. */
    write(ctx: ApiContext, row: Row, changes: Changes): Promise<RecordWrite<Row>>;
  };
  /** Throws if a run needs the record. */
  requireUnused?(store: Queries, row: Row, ident: string): Promise<void>;
  /** The audit row's values. @param given the request's body */
  values(row: Row, given: Partial<Body & Changes>): Readonly<Record<string, unknown>>;
};

type AnyRecordKind<Row extends StoredRecord> = RecordKind<Row, unknown, Given, object>;
type Params = Readonly<Record<string, string>>;

/** Bounded: every admission reads the records of its node's projects. */
const mostOfOneProject = 50;

const recordRule = (resource: RecordSubject, act: 'get' | AuditedAct): string => `temper:${resource}:${act}`;
const pathOf = (resource: RecordSubject): string => `/temper/v1/${resource.replaceAll('_', '-')}s`;
const paramOf = <Row extends StoredRecord>({ resource, param = resource }: AnyRecordKind<Row>): string => param;
const pathOfOne = <Row extends StoredRecord>(kind: AnyRecordKind<Row>) => ({
  path: `${pathOf(kind.resource)}/:${paramOf(kind)}`,
  params: z.object({ [paramOf(kind)]: kind.ident }),
});
const identOfRecord = <Row extends StoredRecord>(kind: AnyRecordKind<Row>, row: Row): string =>
  kind.identOf?.(row) ?? row.uuid;
const projectOf = (row: StoredRecord) => ({ project: row.project ?? null });

/** Undefined also for a hidden record. */
const visibleRecord = async <Row extends StoredRecord>(
  { resource, ofProject, store }: AnyRecordKind<Row>,
  ctx: ApiContext,
  who: Caller,
  ident: string,
): Promise<Row | undefined> => {
  const row = await store(ctx.inventory).find(ident);
  if (!row || !ofProject) return row;
  return ctx.policy().allows(recordRule(resource, 'get'), who, ofProject.target(projectOf(row))) ? row : undefined;
};

/** The record that the caller may read, change or delete. Throws PolicyDenied, the record's NotFound. */
const recordFor = async <Row extends StoredRecord>(
  kind: AnyRecordKind<Row>,
  ctx: ApiContext,
  { who, params }: { readonly who: Caller; readonly params: Params },
  act: 'get' | 'update' | 'delete',
): Promise<Row> => {
  const { resource, ofProject, missing } = kind;
  const ident = params[paramOf(kind)]!;
  if (!ofProject) ctx.policy().require(recordRule(resource, act), who);
  const row = (await visibleRecord(kind, ctx, who, ident)) ?? missing(ident);
  if (ofProject && act !== 'get')
    ctx.policy().require(recordRule(resource, act), who, ofProject.target(projectOf(row)));
  return row;
};

/** Rules of `recordFor`. */
const rulesOf = <Row extends StoredRecord>(
  { resource, ofProject }: AnyRecordKind<Row>,
  act: 'update' | 'delete',
): string[] => (ofProject ? [recordRule(resource, 'get'), recordRule(resource, act)] : [recordRule(resource, act)]);

/** Throws PolicyDenied if the caller may see none. */
const visibleTo = <Row extends StoredRecord>(
  { resource, ofProject }: AnyRecordKind<Row>,
  ctx: ApiContext,
  who: Caller,
): Predicate => {
  const rule = recordRule(resource, 'get');
  const visible = ofProject && ctx.policy().filter(rule, who, { [`${resource}.project`]: 'project' });
  if (!visible || visible.is === 'false') ctx.policy().require(rule, who);
  return visible ?? always;
};

const viewOf = async <Row extends StoredRecord>(
  kind: AnyRecordKind<Row>,
  ctx: ApiContext,
  request: Viewed,
  row: Row,
) => {
  const view = await kind.viewer(ctx, request);
  return view(row);
};

/** The named project, or else the caller's; undefined for a record of the installation. Throws PolicyDenied, InvalidInput. */
const projectFor = <Row extends StoredRecord>(
  { resource, ofProject }: AnyRecordKind<Row>,
  ctx: ApiContext,
  who: Caller,
  named: string | undefined,
): ProjectId | undefined => {
  const rule = recordRule(resource, 'create');
  if (!ofProject) {
    ctx.policy().require(rule, who);
    return undefined;
  }
  const { target, orInstallation = false } = ofProject;
  const policy = ctx.policy();
  if (named === undefined && orInstallation && policy.allows(rule, who, target({ project: null }))) return undefined;
  const project = (named as ProjectId | undefined) ?? (who.project_id as ProjectId | null);
  policy.require(rule, who, target({ project }));
  return project ?? raise('InvalidInput', { field: 'project', reason: 'is missing; a caller of the system has none' });
};

/** Throws Conflict. */
const requireRoom = async <Row extends StoredRecord>(
  { resource, ofProject }: AnyRecordKind<Row>,
  store: Queries,
  project: ProjectId | undefined,
): Promise<void> => {
  if (!ofProject || project === undefined || (await ofProject.count(store, project)) < mostOfOneProject) return;
  const plural = `${resource.replaceAll('_', ' ')}s`;
  raise('Conflict', { reason: `Project ${project} has ${mostOfOneProject} ${plural}; delete one first.` });
};

const changeOf =
  <Row extends StoredRecord>({ resource, values }: AnyRecordKind<Row>, act: AuditedAct, given: object) =>
  (row: Row): Change => {
    const { uuid, project } = row;
    return recordChange({
      resource,
      act,
      rule: recordRule(resource, act),
      uuid,
      project: project ?? undefined,
      values: values(row, given),
    });
  };

/** Records under the plural of their resource, and the address of the next page if more follow. */
type ListBody = Readonly<Record<string, readonly unknown[] | string | undefined>>;

const listRoute = <Row extends StoredRecord>(kind: AnyRecordKind<Row>): Route => {
  const { resource, shape, viewRules = [], store, viewer } = kind;
  const collection = `${resource}s`;
  const path = pathOf(resource);
  return route({
    method: 'GET',
    path,
    answers: { 200: typed<ListBody>(pageOf(collection, shape)) },
    rules: [recordRule(resource, 'get'), ...viewRules],
    query: uuidPageQuery,
    async handler(request, ctx) {
      const { marker } = request.query;
      const visible = visibleTo(kind, ctx, request.who);
      const last = await markedRecord(marker, (ident) => visibleRecord(kind, ctx, request.who, ident));
      const after = last && identOfRecord(kind, last);
      const read = (limit: number) => store(ctx.inventory).list({ visible, limit, after });
      const { rows, next } = await readPage(request, path, read, ({ uuid }) => uuid);
      const view = await viewer(ctx, request);
      // Sequential: a view may read PostgreSQL, and other requests need connections too.
      const views: unknown[] = [];
      for (const row of rows) views.push(await view(row));
      return ok({ [collection]: views, ...next });
    },
  });
};

const createRoute = <Row extends StoredRecord>(kind: AnyRecordKind<Row>): Route => {
  const { resource, shape, viewRules = [], body, create, taken } = kind;
  const path = pathOf(resource);
  return route({
    method: 'POST',
    path,
    answers: { 201: shape },
    rules: [recordRule(resource, 'create'), ...viewRules],
    body,
    async handler(request, ctx) {
      const project = projectFor(kind, ctx, request.who, request.body.project);
      const make = await create(ctx, request.body, project);
      const write = async (store: Queries): Promise<Row> => {
        await requireRoom(kind, store, project);
        return (await make(store)) ?? raise('Conflict', { reason: taken!(request.body, project) });
      };
      const row = await auditedWrite(ctx, request, write, changeOf(kind, 'create', request.body));
      return created(await viewOf(kind, ctx, request, row), `${request.base}${path}/${identOfRecord(kind, row)}`);
    },
  });
};

const showRoute = <Row extends StoredRecord>(kind: AnyRecordKind<Row>): Route => {
  const { resource, shape, viewRules = [] } = kind;
  return route({
    method: 'GET',
    ...pathOfOne(kind),
    answers: { 200: shape },
    rules: [recordRule(resource, 'get'), ...viewRules],
    async handler(request, ctx) {
      return ok(await viewOf(kind, ctx, request, await recordFor(kind, ctx, request, 'get')));
    },
  });
};

const updateRoute = <Row extends StoredRecord>(
  kind: AnyRecordKind<Row>,
  { body, write }: NonNullable<AnyRecordKind<Row>['changes']>,
): Route => {
  const { shape, viewRules = [], missing } = kind;
  return route({
    method: 'PATCH',
    ...pathOfOne(kind),
    answers: { 200: shape },
    rules: [...rulesOf(kind, 'update'), ...viewRules],
    body,
    async handler(request, ctx) {
      const before = await recordFor(kind, ctx, request, 'update');
      const change = await write(ctx, before, request.body);
      const update = async (store: Queries) => (await change(store)) ?? missing(request.params[paramOf(kind)]!);
      const row = await auditedWrite(ctx, request, update, changeOf(kind, 'update', request.body));
      return ok(await viewOf(kind, ctx, request, row));
    },
  });
};

const deleteRoute = <Row extends StoredRecord>(kind: AnyRecordKind<Row>): Route => {
  const { store, missing, requireUnused } = kind;
  return route({
    method: 'DELETE',
    ...pathOfOne(kind),
    rules: rulesOf(kind, 'delete'),
    async handler(request, ctx) {
      const ident = request.params[paramOf(kind)]!;
      const row = await recordFor(kind, ctx, request, 'delete');
      const remove = async (queries: Queries): Promise<Row> => {
        await requireUnused?.(queries, row, ident);
        return (await store(queries).delete(row.uuid)) ? row : missing(ident);
      };
      await auditedWrite(ctx, request, remove, changeOf(kind, 'delete', {}));
      return noContent();
    },
  });
};

export const recordRoutes = <Row extends StoredRecord, View, Body extends object, Changes extends object = never>(
  made: RecordKind<Row, View, Body, Changes>,
): Route[] => {
  const kind = made as unknown as AnyRecordKind<Row>;
  const { changes } = kind;
  const update = changes ? [updateRoute(kind, changes)] : [];
  return [listRoute(kind), createRoute(kind), showRoute(kind), ...update, deleteRoute(kind)];
};
