/** Windows: weekly hours in which a project lets other rollouts work on its owned or leased nodes. */
import { z } from 'zod';
import type { ProjectWindow } from '../../../inventory/project-windows';
import { raise } from '../../../model/errors';
import { mostMinutes, openingFor, windowDays, zoneNamed } from '../../../model/rollouts/windows';
import { windowTarget } from '../../../policy';
import * as shapes from '../../../wire/records';
import { uuid } from '../../resource/validation';
import { recordRoutes } from '../records/record-routes';

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

const windowView = (row: ProjectWindow, now: number, link: string) => {
  const next = openingFor(row, now, 0)!;
  return {
    ...row,
    days: [...row.days],
    created_at: row.created_at.toISOString(),
    open: next.opens <= now,
    opens_at: new Date(next.opens).toISOString(),
    closes_at: new Date(next.closes).toISOString(),
    links: { self: `${link}/temper/v1/windows/${row.uuid}` },
  };
};

export const windowRoutes = recordRoutes({
  resource: 'window',
  ident: uuid,
  ofProject: { target: windowTarget, count: ({ projectWindows }, project) => projectWindows.count(project) },
  shape: shapes.projectWindow,
  async viewer(ctx, { base }) {
    const now = await ctx.inventory.clock();
    return (row: ProjectWindow) => windowView(row, now, base);
  },
  store: ({ projectWindows }) => projectWindows,
  missing: (window) => raise('WindowNotFound', { window }),
  body: windowBody,
  create:
    async (_ctx, body, project) =>
    ({ projectWindows }) =>
      projectWindows.create({ ...body, project: project! }),
  taken: ({ name }, project) => `Project ${project} has a window ${name} already.`,
  values: ({ name, days, from, minutes, zone }) => ({ name, days, from, minutes, zone }),
});
