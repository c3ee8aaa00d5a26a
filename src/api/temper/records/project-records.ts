/** Records of a project about its owned or leased nodes. */
import type { AuditContext } from '../../../admission/requester';
import type { Queries } from '../../../inventory';
import type { Caller } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import type { ProjectId } from '../../../model/ids';
import type { Predicate } from '../../../model/predicates';
import type { RecordSubject } from '../../../model/resources/event-kinds';
import type { Target } from '../../../policy';
import { type AuditedAct, auditedWrite, type Change, recordChange } from '../../audit/record';
import type { ApiContext } from '../../context';
import { readPage } from '../../resource/own-pages';
import type { ApiRequest } from '../../server/route';

/** Bounded: every admission reads the records of its node's projects. */
const mostOfOneProject = 50;

type ProjectRecord = { readonly uuid: string; readonly project: ProjectId };
type Page = { readonly limit: number; readonly after?: string };
type ListQuery = { readonly limit: number; readonly marker?: string };

type Kind<Row> = {
  /** As in rules, events and audit rows: `window`. */
  readonly resource: RecordSubject;
  /** For error texts: `windows`. */
  readonly plural: string;
  readonly rules: Readonly<Partial<Record<AuditedAct, string>>> & Readonly<Record<'get' | 'create' | 'delete', string>>;
  target(row: { readonly project: ProjectId | null }): Target;
  store(inventory: Queries): {
    list(page: Page & { readonly visible: Predicate }): Promise<readonly Row[]>;
    find(uuid: string): Promise<Row | undefined>;
    count(project: ProjectId): Promise<number>;
    delete(uuid: string): Promise<boolean>;
  };
  /** Throws the record's NotFound. */
  missing(uuid: string): never;
  /** The audit row's values. */
  values(row: Row): Readonly<Record<string, unknown>>;
};

const readsOf = <Row extends ProjectRecord>({ resource, rules, target, store, missing }: Kind<Row>) => {
  const find = async (ctx: ApiContext, who: Caller, uuid: string): Promise<Row | undefined> => {
    const row = await store(ctx.inventory).find(uuid);
    return row && ctx.policy().allows(rules.get, who, target(row)) ? row : undefined;
  };
  return {
    /** Throws the record's NotFound, also for hidden records. */
    visible: async (ctx: ApiContext, who: Caller, uuid: string): Promise<Row> =>
      (await find(ctx, who, uuid)) ?? missing(uuid),

    /** Throws PolicyDenied, MarkerNotFound. */
    async page(ctx: ApiContext, request: ApiRequest<unknown, ListQuery, unknown>, path: string) {
      const { who } = request;
      const { marker: after } = request.query;
      const visible = ctx.policy().filter(rules.get, who, { [`${resource}.project`]: 'project' });
      if (visible.is === 'false') ctx.policy().require(rules.get, who);
      if (after !== undefined && !(await find(ctx, who, after))) raise('MarkerNotFound', { marker: after });
      const read = (limit: number) => store(ctx.inventory).list({ visible, limit, after });
      return readPage(request, path, read, ({ uuid }) => uuid);
    },
  };
};

/** Throws Conflict. */
const requireRoom = async <Row extends ProjectRecord>(
  { store, plural }: Kind<Row>,
  inventory: Queries,
  project: ProjectId,
): Promise<void> => {
  if ((await store(inventory).count(project)) >= mostOfOneProject)
    raise('Conflict', { reason: `Project ${project} has ${mostOfOneProject} ${plural}; delete one first.` });
};

/** Shared operations of the records' routes. */
export const projectRecords = <Row extends ProjectRecord>(kind: Kind<Row>) => {
  const { resource, rules, target, store, values, missing } = kind;
  const reads = readsOf(kind);
  const changeOf =
    (act: AuditedAct) =>
    (row: Row): Change =>
      recordChange({ resource, act, rule: rules[act]!, uuid: row.uuid, project: row.project, values: values(row) });
  return {
    ...reads,
    changeOf,

    /** The named project, or else the caller's. Throws PolicyDenied, InvalidInput. */
    projectOf(ctx: ApiContext, who: Caller, named: string | undefined): ProjectId {
      const project = (named as ProjectId | undefined) ?? who.project_id;
      ctx.policy().require(rules.create, who, target({ project }));
      return (
        project ?? raise('InvalidInput', { field: 'project', reason: 'is missing; a caller of the system has none' })
      );
    },

    /** Writes an audit row and event. Throws Conflict if the project has too many, and the errors of `make`. */
    create(ctx: ApiContext, request: AuditContext, project: ProjectId, make: (inventory: Queries) => Promise<Row>) {
      const write = async (inventory: Queries): Promise<Row> => {
        await requireRoom(kind, inventory, project);
        return make(inventory);
      };
      return auditedWrite(ctx, request, write, changeOf('create'));
    },

    /** Writes an audit row and event. Throws the record's NotFound, PolicyDenied. */
    async delete(ctx: ApiContext, request: AuditContext, uuid: string): Promise<void> {
      const row = await reads.visible(ctx, request.who, uuid);
      ctx.policy().require(rules.delete, request.who, target(row));
      const write = async (inventory: Queries): Promise<Row> =>
        (await store(inventory).delete(row.uuid)) ? row : missing(uuid);
      await auditedWrite(ctx, request, write, changeOf('delete'));
    },
  };
};
