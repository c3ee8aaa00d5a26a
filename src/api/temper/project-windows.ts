/** Windows on the wire: weekly hours in which a project lets rollouts of others work on the nodes that it owns or leases. */
import { z } from 'zod';
import type { ProjectWindow } from '../../inventory/project-windows';
import type { Caller } from '../../model/access/callers';
import { raise } from '../../model/errors';
import { isZone, mostMinutes, openingFor, windowDays } from '../../model/rollouts/windows';
import { windowTarget } from '../../policy';
import { auditAndEvent, type Change } from '../audit/record';
import type { ApiContext } from '../context';
import { created, noContent, ok, route } from '../http/route';
import { pageLimit, uuid } from '../resource/validation';
import * as shapes from './shapes';

const base = '/temper/v1/windows';
const mostOfOneProject = 50;

const windowRules = {
  get: 'temper:window:get',
  create: 'temper:window:create',
  delete: 'temper:window:delete',
} as const;
const columns = { 'window.project': 'project' } as const;

/** The parts of a weekly window, as requests give them. */
const windowFields = {
  days: z
    .array(z.enum(windowDays))
    .min(1, { error: 'must name a day, or it never opens' })
    .transform((days) => [...new Set(days)]),
  from: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as 22:00' }),
  minutes: z.int().min(1, { error: 'must be a minute at least, or it never opens' }).max(mostMinutes),
  zone: z.string().max(64).refine(isZone, { error: 'must be a zone such as Europe/Berlin' }),
};
const creation = z.strictObject({
  project: z.string().min(1).max(255).optional(),
  name: z
    .string()
    .regex(/^[\w.-]{1,63}$/, { error: 'must hold letters, digits, dots, dashes and underscores, 63 at most' }),
  ...windowFields,
});
const page = z.strictObject({ limit: pageLimit, marker: uuid.optional() });
const windowParams = z.object({ window: uuid });
type One = z.output<typeof windowParams>;

const windowView = (row: ProjectWindow, now: number, link: string) => {
  const next = openingFor(row, now, 0)!;
  return {
    ...row,
    days: [...row.days],
    created_at: row.created_at.toISOString(),
    open: next.opens <= now,
    opens_at: new Date(next.opens).toISOString(),
    closes_at: new Date(next.closes).toISOString(),
    links: { self: `${link}${base}/${row.uuid}` },
  };
};

const findVisible = async (ctx: ApiContext, who: Caller, window: string): Promise<ProjectWindow | undefined> => {
  const row = await ctx.inventory.projectWindows.find(window);
  return row && ctx.policy().allows(windowRules.get, who, windowTarget(row)) ? row : undefined;
};

/** Throws WindowNotFound alike for missing and hidden ones. */
const visibleWindow = async (ctx: ApiContext, who: Caller, window: string): Promise<ProjectWindow> =>
  (await findVisible(ctx, who, window)) ?? raise('WindowNotFound', { window });

const windowActs = { create: 'created', delete: 'deleted' } as const;

const changeOf = (act: keyof typeof windowActs, row: ProjectWindow): Change => ({
  action: `window.${act}`,
  kind: `window.${windowActs[act]}`,
  rule: windowRules[act],
  resource: 'window',
  resource_id: row.uuid,
  project: row.project,
  data: { name: row.name, days: row.days, from: row.from, minutes: row.minutes, zone: row.zone },
});

const listWindows = route<unknown, z.output<typeof page>>({
  method: 'GET',
  path: base,
  answers: { 200: shapes.projectWindows },
  rules: [windowRules.get],
  query: page,
  async handler({ who, query: { limit, marker: after }, base: link }, ctx) {
    const visible = ctx.policy().filter(windowRules.get, who, columns);
    if (visible.is === 'false') ctx.policy().require(windowRules.get, who);
    if (after !== undefined && !(await findVisible(ctx, who, after))) raise('MarkerNotFound', { marker: after });
    const rows = await ctx.inventory.projectWindows.list({ visible, limit, after });
    const now = await ctx.inventory.clock();
    return ok({ windows: rows.map((row) => windowView(row, now, link)) });
  },
});

const createWindow = route<unknown, unknown, z.output<typeof creation>>({
  method: 'POST',
  path: base,
  answers: { 201: shapes.projectWindow },
  rules: [windowRules.create],
  body: creation,
  async handler(request, ctx) {
    const { who, body } = request;
    const project = body.project ?? who.project_id;
    ctx.policy().require(windowRules.create, who, windowTarget({ project }));
    if (project === null)
      return raise('InvalidInput', { field: 'project', reason: 'is missing; a caller of the system has none' });
    const row = await ctx.inventory.transaction(async (store) => {
      if ((await store.projectWindows.count(project)) >= mostOfOneProject)
        raise('Conflict', { reason: `Project ${project} has ${mostOfOneProject} windows; delete one first.` });
      const made =
        (await store.projectWindows.create({ ...body, project })) ??
        raise('Conflict', { reason: `Project ${project} has a window ${body.name} already.` });
      await auditAndEvent(store, ctx.policy(), request, changeOf('create', made));
      return made;
    });
    return created(windowView(row, await ctx.inventory.clock(), request.base), `${request.base}${base}/${row.uuid}`);
  },
});

const showWindow = route<One>({
  method: 'GET',
  path: `${base}/:window`,
  answers: { 200: shapes.projectWindow },
  rules: [windowRules.get],
  params: windowParams,
  async handler({ who, params, base: link }, ctx) {
    return ok(windowView(await visibleWindow(ctx, who, params.window), await ctx.inventory.clock(), link));
  },
});

const deleteWindow = route<One>({
  method: 'DELETE',
  path: `${base}/:window`,
  rules: [windowRules.get, windowRules.delete],
  params: windowParams,
  async handler(request, ctx) {
    const row = await visibleWindow(ctx, request.who, request.params.window);
    ctx.policy().require(windowRules.delete, request.who, windowTarget(row));
    await ctx.inventory.transaction(async (store) => {
      if (!(await store.projectWindows.delete(row.uuid))) raise('WindowNotFound', { window: row.uuid });
      await auditAndEvent(store, ctx.policy(), request, changeOf('delete', row));
    });
    return noContent();
  },
});

export const windowRoutes = [listWindows, createWindow, showWindow, deleteWindow];
