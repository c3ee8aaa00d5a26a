/** Description of one kind of resource, from which the kit makes its routes. */

import { z } from 'zod';
import type { AuditContext } from '../../admission/requester';
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
import type { AuditedAct, ResourceWrite } from '../audit/record';
import type { ApiContext } from '../context';
import type { ApiRequest } from '../server/route';
import type { ListAsked } from './lists';
import type { Operation, Patcher } from './patch';
import type { projections } from './representation';
import type { Sealing, StoredValues } from './values';

export type AnyRow = { readonly uuid: string };

/** The queries of a kind. `find` returns row and node if rows belong to a node. */
type Store = {
  find(ident: string, options?: { lock?: boolean }): Promise<unknown>;
  lines(line: Line, base: string, selection: Selection, page: Page): Promise<LinesPage>;
  insert(values: StoredValues): Promise<AnyRow>;
  update(uuid: string, values: StoredValues): Promise<AnyRow>;
  delete(uuid: string): Promise<void>;
  /** True if the node has that many rows. Only for rows that belong to a node. */
  isFull?(node: string, most: number): Promise<boolean>;
};

/** Rows belong to a node and follow its rules. If the node is hidden, its rows count as missing. */
export type Home = {
  /** Reads the node's identifier from a create request; default `node_uuid`. Throws InvalidInput. */
  readonly ident?: (body: StoredValues) => string;
  /** Refuses filters that exclude each other. `nested`: the path names a parent. Throws InvalidInput. */
  readonly checkFilters?: (filters: ListAsked['filters'], nested: boolean) => void;
};

/** Rows belong to a project, or without owner to the installation. */
type Owned<Row> = {
  readonly target: (row: Row) => Target;
  /** Columns for the target keys of its rules. */
  readonly columns: Readonly<Record<string, string>>;
  /** The filter that names a project. Other projects than the caller's need the rule for all. */
  readonly filter: string;
};

/** A kind's lookup and visibility. Without `home` and `owned` it belongs to the installation. */
export type ResourceKind<Row extends AnyRow = AnyRow> = {
  readonly table: ResourceTable;
  /** The table for versions that have another one. */
  readonly tableAt?: (minor: number) => ResourceTable;
  /** One word, as in audit rows: `volume_target`. */
  readonly what: RecordSubject;
  /** Below the version: `volume/targets`. */
  readonly path: string;
  /** The path parameter's name; default `ident`. */
  readonly param?: string;
  readonly since: number;
  /** Prefix of its rules. */
  readonly rules: string;
  readonly missing: ErrorCode;
  /** Set if a name may replace the UUID: from which version, and not in the act `notTo`. */
  readonly named?: { readonly since?: number; readonly notTo?: AuditedAct };
  readonly home?: Home;
  readonly owned?: Owned<Row>;
  readonly store: (inventory: Queries) => Omit<Store, 'insert'> & Partial<Pick<Store, 'insert'>>;
};

/** A list below another resource: `/v1/nodes/:ident/portgroups`. */
export type Below = { readonly parent: 'nodes' | 'portgroups'; readonly param: string; readonly since?: number };

export type ListRequest = ApiRequest<unknown, StoredValues, unknown>;

/** Fields and lists of a kind. */
export type Shows<Row extends AnyRow = AnyRow> = ResourceKind<Row> & {
  readonly shown: ReturnType<typeof projections>;
  /** Rules that decide about hidden fields. */
  readonly redacting?: readonly string[];
  /** True if `/detail` exists. */
  readonly detail?: true;
  /** First minor version of `detail` in lists, if it differs from the usual one. `never`: the list has one form only. */
  readonly detailSince?: number | 'never';
  /** Rules of a list of installation resources; default is the rule that shows a row. */
  readonly listRules?: readonly string[];
  /** Error for a marker that is no UUID; default InvalidInput. */
  readonly badMarker?: 'MarkerNotFound';
  readonly below?: readonly Below[];
  /** Further conditions, from filters that name no column. Throws for an invalid filter. */
  readonly wanted?: (
    ctx: ApiContext,
    request: ListRequest,
    filters: ListAsked['filters'],
    parent: { readonly of: Below['parent']; readonly ident: string } | undefined,
  ) => Promise<Predicate>;
};

/** A write in its transaction, for the checks of a kind. */
export type Write<Row extends AnyRow> = {
  readonly act: AuditedAct;
  readonly ctx: ApiContext;
  readonly inventory: Queries;
  readonly request: AuditContext & { readonly version: number };
  /** The row before the write; on create, the row to store. */
  readonly row: Row;
  /** All values on create, the changed ones on update, none on delete. */
  readonly values: StoredValues;
  /** The attributes that the request names. */
  readonly named: readonly string[];
  /** The row's node before and after the write; only for kinds with a home. */
  readonly node: HomeNode;
  readonly to: HomeNode;
};

/** A check before the given acts. It refuses by throwing. */
export type WriteCheck<Row extends AnyRow> = {
  readonly on: readonly AuditedAct[];
  readonly check: (write: Write<Row>) => void | Promise<void>;
};

/** A consequence after the given acts. @returns rules that admitted it beside those of the act */
export type Consequence<Row extends AnyRow> = {
  readonly on: readonly AuditedAct[];
  readonly follow: (write: Write<Row> & { readonly stored: Row }) => Promise<readonly string[]>;
};

export type Resource<Row extends AnyRow = AnyRow> = Shows<Row> & {
  /** The acts that the kit offers; default all. */
  readonly acts?: readonly AuditedAct[];
  /** Status for a write with an older version. */
  readonly tooOld?: 404 | 405;
  readonly updateSince?: number;
  /** Maximum number of values in a body, if it differs from the API's limit. */
  readonly bodyValues?: number;
  /** Rules that the checks of a create and an update may evaluate. */
  readonly asks?: readonly string[];
  readonly sealing?: Sealing;
  /** Parses a create request if no single schema fits all versions. */
  readonly parse?: (body: unknown, minor: number) => StoredValues;
  /** Applies a patch if it does more than its operations. */
  readonly patch?: (patched: Patcher, row: Row, patch: readonly Operation[]) => StoredValues;
  /** Makes the values to store from the parsed ones; `stored` is set on update. Throws for invalid values. */
  readonly checked?: (
    values: StoredValues,
    write: Pick<Write<Row>, 'ctx' | 'request' | 'named'>,
    stored?: Row,
  ) => StoredValues;
  readonly before?: readonly WriteCheck<Row>[];
  readonly after?: readonly Consequence<Row>[];
  /** The recorded values, if they differ from the written ones. */
  readonly recorded?: (
    row: Row,
    write: { readonly act: AuditedAct; readonly body: unknown; readonly values: StoredValues },
  ) => Partial<Pick<ResourceWrite, 'values' | 'facts' | 'project'>>;
  /** Response headers of a write. */
  readonly headers?: (ctx: ApiContext, row: Row, named: readonly string[]) => Readonly<Record<string, string>>;
};

export const ruleOf = ({ rules }: Pick<ResourceKind, 'rules'>, act: string): string => `${rules}:${act}`;

export const collectionPath = ({ path }: Pick<ResourceKind, 'path'>): string => `/v1/${path}`;
export const onePath = ({ path, param = 'ident' }: Pick<ResourceKind, 'path' | 'param'>): string =>
  `/v1/${path}/:${param}`;

export type PathParams = Readonly<Record<string, string>>;

export const paramsOf = (name = 'ident') => z.object({ [name]: z.string() });

export const identIn = ({ param = 'ident' }: Pick<ResourceKind, 'param'>, params: PathParams): string => params[param]!;
