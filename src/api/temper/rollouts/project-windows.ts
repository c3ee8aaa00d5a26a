/** Windows: weekly hours in which a project lets other rollouts work on its owned or leased nodes. */
import { z } from 'zod';
import type { ProjectWindow } from '../../../inventory/project-windows';
import { raise } from '../../../model/errors';
import { mostMinutes, openingFor, windowDays, zoneNamed } from '../../../model/rollouts/windows';
import { windowTarget } from '../../../policy';
import * as shapes from '../../../wire/records';
import { uuidPage } from '../../resource/own-pages';
import { uuid } from '../../resource/validation';
import { created, noContent, ok, route } from '../../server/route';
import { projectRecords } from '../records/project-records';

const windowsPath = '/temper/v1/windows';

const windowRules = {
  get: 'temper:window:get',
  create: 'temper:window:create',
  delete: 'temper:window:delete',
} as const;

const windowFields = {
  days: z
    .array(z.enum(windowDays))
    .min(1, { error: 'must name a day, or it never opens' })
    .transform((days) => [...new Set(days)]),
  from: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'must be a time of day such as 22:00' }),
  minutes: z.int().min(1, { error: 'must be a minute at least, or it never opens' }).max(mostMinutes),
  zone: z
    .string()
    .max(64)
    .refine((zone) => zoneNamed(zone) !== undefined, { error: 'must be a zone such as Europe/Berlin' })
    .transform((zone) => zoneNamed(zone)!),
};
const windowBody = z.strictObject({
  project: z.string().min(1).max(255).optional(),
  name: z
    .string()
    .regex(/^[\w.-]{1,63}$/, { error: 'must hold letters, digits, dots, dashes and underscores, 63 at most' }),
  ...windowFields,
});
const page = z.strictObject(uuidPage);
const windowParams = z.object({ window: uuid });
type WindowParams = z.output<typeof windowParams>;

const windowView = (row: ProjectWindow, now: number, link: string) => {
  const next = openingFor(row, now, 0)!;
  return {
    ...row,
    days: [...row.days],
    created_at: row.created_at.toISOString(),
    open: next.opens <= now,
    opens_at: new Date(next.opens).toISOString(),
    closes_at: new Date(next.closes).toISOString(),
    links: { self: `${link}${windowsPath}/${row.uuid}` },
  };
};

const windows = projectRecords<ProjectWindow>({
  resource: 'window',
  plural: 'windows',
  rules: windowRules,
  target: windowTarget,
  store: ({ projectWindows }) => projectWindows,
  missing: (window) => raise('WindowNotFound', { window }),
  values: ({ name, days, from, minutes, zone }) => ({ name, days, from, minutes, zone }),
});

const listWindows = route<unknown, z.output<typeof page>>({
  method: 'GET',
  path: windowsPath,
  answers: { 200: shapes.projectWindows },
  rules: [windowRules.get],
  query: page,
  async handler(request, ctx) {
    const { rows, next } = await windows.page(ctx, request, windowsPath);
    const now = await ctx.inventory.clock();
    return ok({ windows: rows.map((row) => windowView(row, now, request.base)), ...next });
  },
});

const createWindow = route<unknown, unknown, z.output<typeof windowBody>>({
  method: 'POST',
  path: windowsPath,
  answers: { 201: shapes.projectWindow },
  rules: [windowRules.create],
  body: windowBody,
  async handler(request, ctx) {
    const { who, body } = request;
    const project = windows.projectOf(ctx, who, body.project);
    const row = await windows.create(
      ctx,
      request,
      project,
      async (store) =>
        (await store.projectWindows.create({ ...body, project })) ??
        raise('Conflict', { reason: `Project ${project} has a window ${body.name} already.` }),
    );
    return created(
      windowView(row, await ctx.inventory.clock(), request.base),
      `${request.base}${windowsPath}/${row.uuid}`,
    );
  },
});

const showWindow = route<WindowParams>({
  method: 'GET',
  path: `${windowsPath}/:window`,
  answers: { 200: shapes.projectWindow },
  rules: [windowRules.get],
  params: windowParams,
  async handler({ who, params, base: link }, ctx) {
    return ok(windowView(await windows.visible(ctx, who, params.window), await ctx.inventory.clock(), link));
  },
});

const deleteWindow = route<WindowParams>({
  method: 'DELETE',
  path: `${windowsPath}/:window`,
  rules: [windowRules.get, windowRules.delete],
  params: windowParams,
  async handler(request, ctx) {
    await windows.delete(ctx, request, request.params.window);
    return noContent();
  },
});

export const windowRoutes = [listWindows, createWindow, showWindow, deleteWindow];
