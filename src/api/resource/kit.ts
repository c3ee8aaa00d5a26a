/** One kind of resource: where its rows belong, what shows them, what a write has to hold. The kit makes its routes of it. */
import { z } from 'zod';
import type { Queries } from '../../inventory';
import type { Line, LinesPage } from '../../inventory/lines';
import type { Page } from '../../inventory/pages';
import type { Selection } from '../../inventory/resources';
import type { ErrorCode } from '../../model/errors';
import type { Predicate } from '../../model/predicates';
import type { RecordSubject } from '../../model/resources/event-kinds';
import type { ResourceTable } from '../../model/resources/fields';
import type { HomeNode } from '../../model/resources/node-resources';
import type { Target } from '../../policy';
import type { AuditContext, AuditedAct, ResourceWrite } from '../audit/record';
import type { ApiContext } from '../context';
import type { ApiRequest } from '../http/route';
import type { ListAsked } from './lists';
import type { Operation, Patcher } from './patch';
import type { projections } from './representation';
import type { Sealing, StoredValues } from './values';

/** A row of any kind, as the kit handles it. */
export type AnyRow = { readonly uuid: string };

/** The queries of a kind; `find` gives the node beside the row where rows belong to one. */
type Store = {
  find(ident: string, options?: { lock?: boolean }): Promise<unknown>;
  lines(line: Line, base: string, selection: Selection, page: Page): Promise<LinesPage>;
  insert(values: StoredValues): Promise<AnyRow>;
  update(uuid: string, values: StoredValues): Promise<AnyRow>;
  delete(uuid: string): Promise<void>;
  /** Whether a node has so many rows; only where rows belong to one. */
  isFull?(node: string, most: number): Promise<boolean>;
};

/** Rows belong to a node: its rules decide about them, and where it is hidden they are missing. */
export type Home = {
  /** What names the node in a create request, where that is not `node_uuid`. Throws InvalidInput. */
  readonly ident?: (body: StoredValues) => string;
  /** Refuses filters that exclude each other; `nested` where the path names a parent. Throws InvalidInput. */
  readonly checkFilters?: (filters: ListAsked['filters'], nested: boolean) => void;
};

/** Rows belong to a project, or to the installation where they have no owner. */
type Owned<Row> = {
  readonly target: (row: Row) => Target;
  /** Columns behind the target keys of its rules. */
  readonly columns: Readonly<Record<string, string>>;
  /** The filter that names a project: one of the caller's own, unless it may list all. */
  readonly filter: string;
};

/** What finds a row of the kind and shows it or hides it. Without `home` and `owned` it belongs to the installation. */
export type ResourceKind<Row extends AnyRow = AnyRow> = {
  readonly table: ResourceTable;
  /** The table of a version that knows another one. */
  readonly tableAt?: (minor: number) => ResourceTable;
  /** One word, as in audit rows: `volume_target`. */
  readonly what: RecordSubject;
  /** Below the version: `volume/targets`. */
  readonly path: string;
  /** What the path calls one of them; default `ident`. */
  readonly param?: string;
  readonly since: number;
  /** Prefix of its rules. */
  readonly rules: string;
  readonly missing: ErrorCode;
  /** Whether a name may stand for the UUID, from which version, and in which acts it may not. */
  readonly named?: { readonly since?: number; readonly notTo?: AuditedAct };
  readonly home?: Home;
  readonly owned?: Owned<Row>;
  readonly store: (inventory: Queries) => Omit<Store, 'insert'> & Partial<Pick<Store, 'insert'>>;
};

/** A list below another resource: `/v1/nodes/:ident/portgroups`. */
export type Below = { readonly parent: 'nodes' | 'portgroups'; readonly param: string; readonly since?: number };

export type ListRequest = ApiRequest<unknown, StoredValues, unknown>;

/** What of a kind is shown, and how it is listed. */
export type Shows<Row extends AnyRow = AnyRow> = ResourceKind<Row> & {
  readonly shown: ReturnType<typeof projections>;
  /** Rules that decide what of it is shown. */
  readonly redacting?: readonly string[];
  /** Whether `/detail` exists. */
  readonly detail?: true;
  /** Minor version from which lists take `detail`, where it is another than for most; never where there is one form only. */
  readonly detailSince?: number | 'never';
  /** The rules that a list of the installation's asks; the one that shows a row when absent. */
  readonly listRules?: readonly string[];
  /** What a marker that is no UUID is answered; InvalidInput when absent. */
  readonly badMarker?: 'MarkerNotFound';
  readonly below?: readonly Below[];
  /** Which rows are wanted beside the filters that name a column. Throws what is wrong with those. */
  readonly wanted?: (
    ctx: ApiContext,
    request: ListRequest,
    filters: ListAsked['filters'],
    parent: { readonly of: Below['parent']; readonly ident: string } | undefined,
  ) => Promise<Predicate>;
};

/** A write in its transaction, as the checks of a kind see it. */
export type Write<Row extends AnyRow> = {
  readonly act: AuditedAct;
  readonly ctx: ApiContext;
  readonly inventory: Queries;
  readonly request: AuditContext & { readonly version: number };
  /** The row before the write; what is to be stored on create. */
  readonly row: Row;
  /** What is written: all on create, what differs on update, nothing on delete. */
  readonly values: StoredValues;
  /** The attributes that the request names. */
  readonly named: readonly string[];
  /** The node that the row belongs to, and the one that it will; only of kinds with a home. */
  readonly node: HomeNode;
  readonly to: HomeNode;
};

/** A row of checks: before which acts it runs, and what it refuses by throwing. */
export type WriteCheck<Row extends AnyRow> = {
  readonly on: readonly AuditedAct[];
  readonly check: (write: Write<Row>) => void | Promise<void>;
};

/** A row of consequences: after which acts it follows. @returns rules that admitted it beside those of the act */
export type Consequence<Row extends AnyRow> = {
  readonly on: readonly AuditedAct[];
  readonly follow: (write: Write<Row> & { readonly stored: Row }) => Promise<readonly string[]>;
};

export type Resource<Row extends AnyRow = AnyRow> = Shows<Row> & {
  /** The acts that the kit offers; all when absent. */
  readonly acts?: readonly AuditedAct[];
  /** What a write of an older version is answered. */
  readonly tooOld?: 404 | 405;
  readonly updateSince?: number;
  /** Values in a body at most, where that is not the API's own limit. */
  readonly bodyValues?: number;
  /** Rules that the checks of a create and an update may ask. */
  readonly asks?: readonly string[];
  readonly sealing?: Sealing;
  /** The values of a create request, where no schema for all versions can say them. */
  readonly parse?: (body: unknown, minor: number) => StoredValues;
  /** What a patch makes of a row, where it is more than its operations. */
  readonly patch?: (patched: Patcher, row: Row, patch: readonly Operation[]) => StoredValues;
  /** The values to store, made of those that came, parsed; `stored` on an update. Throws what is wrong with them. */
  readonly checked?: (
    values: StoredValues,
    write: Pick<Write<Row>, 'ctx' | 'request' | 'named'>,
    stored?: Row,
  ) => StoredValues;
  readonly before?: readonly WriteCheck<Row>[];
  readonly after?: readonly Consequence<Row>[];
  /** What the record holds, where that is not what was written. */
  readonly recorded?: (
    row: Row,
    write: { readonly act: AuditedAct; readonly body: unknown; readonly values: StoredValues },
  ) => Partial<Pick<ResourceWrite, 'values' | 'facts' | 'project'>>;
  /** Headers of the answer to a write. */
  readonly headers?: (ctx: ApiContext, row: Row, named: readonly string[]) => Readonly<Record<string, string>>;
};

export const ruleOf = ({ rules }: Pick<ResourceKind, 'rules'>, act: string): string => `${rules}:${act}`;

export const collectionPath = ({ path }: Pick<ResourceKind, 'path'>): string => `/v1/${path}`;
export const onePath = ({ path, param = 'ident' }: Pick<ResourceKind, 'path' | 'param'>): string =>
  `/v1/${path}/:${param}`;

export type PathParams = Readonly<Record<string, string>>;

/** The parameters of a path that names one. */
export const paramsOf = (name = 'ident') => z.object({ [name]: z.string() });

export const identIn = ({ param = 'ident' }: Pick<ResourceKind, 'param'>, params: PathParams): string => params[param]!;
