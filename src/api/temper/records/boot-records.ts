/** Routes of records by which the boot service serves files: they have a name, and never change. */
import { z } from 'zod';
import type { Queries } from '../../../inventory';
import type { BootRecord } from '../../../inventory/boot-records';
import { ramdiskNamePattern } from '../../../model/boot/ramdisks';
import type { ApiContext } from '../../context';
import type { Route } from '../../server/route';
import { type RecordKind, recordRoutes } from './record-routes';

/** Part of URLs and commands. */
export const recordName = z.string().regex(ramdiskNamePattern, {
  error: 'must begin with a letter or digit, and hold letters, digits, dots, dashes and underscores, 63 at most',
});
export const digest = z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 digest, 64 hexadecimal digits' });

type Kind<Values extends object, View> = RecordKind<BootRecord<Values>, View, Values, never>;
type Store<Values extends object> = ReturnType<Kind<Values, unknown>['store']> & {
  /** Undefined if the name is in use. */
  create(values: Values): Promise<BootRecord<Values> | undefined>;
  /** A node whose run needs the record. */
  user(uuid: string): Promise<string | undefined>;
};

type BootKind<Values extends object, View> = Pick<
  Kind<Values, View>,
  'resource' | 'shape' | 'missing' | 'body' | 'values'
> & {
  view(row: BootRecord<Values>): NoInfer<View>;
  store(store: Queries): Store<Values>;
  /** Throws if the values are not allowed. */
  check?(ctx: ApiContext, values: Values): void;
  /** Throws that a node's run needs the record. */
  inUse(ident: string, node: string): never;
};

export const bootView = <Values>(row: BootRecord<Values>) => ({ ...row, created_at: row.created_at.toISOString() });

export const bootRecordRoutes = <Values extends { readonly name: string }, View>(
  kind: BootKind<Values, View>,
): Route[] => {
  const { resource, store, view, check, inUse } = kind;
  return recordRoutes<BootRecord<Values>, View, Values>({
    ...kind,
    ident: z.string().max(255),
    identOf: ({ name }) => name,
    viewer: async () => view,
    async create(ctx, values) {
      check?.(ctx, values);
      return (queries) => store(queries).create(values);
    },
    taken: ({ name }) => `The name ${name} is that of another ${resource}; remove that one, or choose another name.`,
    async requireUnused(queries, row, ident) {
      const node = await store(queries).user(row.uuid);
      if (node !== undefined) inUse(ident, node);
    },
  });
};
